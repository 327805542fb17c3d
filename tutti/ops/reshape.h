// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op reshape;  // reshape(x; shape) -> y, a view

}  // namespace tutti::ops
