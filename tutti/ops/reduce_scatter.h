// SPDX-License-Identifier: Apache-2.0
// This rank's part of the sum over ranks of a block of the flat gradient vector.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// reduce_scatter(block; axes, part_offset, part_count) -> part [part_count]
extern const Op reduce_scatter;

}  // namespace tutti::ops
