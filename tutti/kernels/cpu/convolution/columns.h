// SPDX-License-Identifier: Apache-2.0
// Patches of an image as columns of a matrix, and back: row (channel, ky, kx), one column for each
// output pixel. Both functions work on some rows and some columns at a time, so that the matrix
// need never exist as a whole.
#pragma once

#include "tutti/kernels/cpu/convolution/sizes.h"

namespace tutti::cpu {

// Which part of the matrix: `channels` channels of one image, beginning where `x` points, and
// output pixels [first, first + count).
struct ColumnPart {
  std::int64_t channels = 0, first = 0, count = 0;
};

// columns[channels·kh·kw][count] from x[channels][h][w].
void to_columns(const Sizes& sizes, const ColumnPart& part, const float* x, float* columns);
// The adjoint of to_columns: adds columns to x.
void from_columns(const Sizes& sizes, const ColumnPart& part, const float* columns, float* x);

}  // namespace tutti::cpu
