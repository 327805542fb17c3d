// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op constant;  // constant(like?; shape, value, dtype) -> y

}  // namespace tutti::ops
