// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op add;  // add(a, b) -> y, both of one shape

}  // namespace tutti::ops
