// SPDX-License-Identifier: Apache-2.0
// The sum of a value over ranks.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op allreduce;  // allreduce(x; axes) -> the sum of x over the ranks along the axes

}  // namespace tutti::ops
