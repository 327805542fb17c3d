// SPDX-License-Identifier: Apache-2.0
// The sum over ranks of a block of a flat vector, into which the inputs are joined.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// allreduce_block(g…; axes, offset, count, dtype) -> block [count]
extern const Op allreduce_block;

}  // namespace tutti::ops
