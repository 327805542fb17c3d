// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op embedding;       // embedding(table[v,d], index[…]) -> y[…,d]
extern const Op embedding_grad;  // embedding_grad(dy[…,d], index[…]; rows) -> dtable[rows,d]
extern const Op to_index;        // to_index(x) -> the nearest integers, as i32
extern const Op to_real;         // to_real(x; dtype) -> integers as floating-point numbers

// index[i]; throws Error naming the position when it is not in [0, rows).
std::int64_t row_at(const char* name, const std::int32_t* index, std::int64_t i, std::int64_t rows);

}  // namespace tutti::ops
