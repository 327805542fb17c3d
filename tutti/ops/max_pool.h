// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op max_pool;         // max_pool(x[n,c,spatial…]) -> y, index
extern const Op max_pool_grad;    // max_pool_grad(dy, index) -> dx
extern const Op max_pool_gather;  // max_pool_gather(v[n,c,spatial…], index) -> v at the maxima

// The type of `index`: u8 where it can hold every position of a window of this many elements, else
// i32.
DType pool_index_type(std::int64_t window_elements);

}  // namespace tutti::ops
