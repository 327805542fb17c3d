// SPDX-License-Identifier: Apache-2.0
// A block of a flat vector from the parts that the ranks hold.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op allgather;  // allgather(part; axes, part_offset, count) -> block [count]

}  // namespace tutti::ops
