// SPDX-License-Identifier: Apache-2.0
// A value of the first rank, on all ranks.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op broadcast;  // broadcast(x; axes) -> x of the first rank along the axes

}  // namespace tutti::ops
