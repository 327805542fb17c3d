// SPDX-License-Identifier: Apache-2.0
// Matrix products of 8-bit integers with sums in 32 bits, which are exact (B03).
#pragma once

#include "tutti/graph/op.h"

#include <limits>

namespace tutti::ops {

extern const Op matmul_i8;  // matmul_i8(a[m,k], b[n,k]) -> sums[m,n] of i32

// The largest k at which sums of products fit into 32 bits, whatever the factors are.
constexpr std::int64_t matmul_i8_most_products =
    std::numeric_limits<std::int32_t>::max() / (128 * 128);

}  // namespace tutti::ops
