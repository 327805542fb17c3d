// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/columns.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// Calls row(at, line, begin, end, inside) for each stretch of an output row, columns [begin, end).
// Element `at` of the matrix belongs to column `begin`. Column j reads line[j · stride]; `line` is
// nullptr where the whole row lies in the padding, and only columns of `inside` are not in it.
template <class Pixel, class Row>
void for_each_row(const Sizes& s, const ColumnPart& part, Pixel* x, const Row& row) {
  const std::int64_t last = part.first + part.count;
  for (std::int64_t c = 0; c < part.channels; ++c)
    for (std::int64_t ky = 0; ky < s.kh; ++ky)
      for (std::int64_t kx = 0; kx < s.kw; ++kx) {
        const std::int64_t matrix_row = (c * s.kh + ky) * s.kw + kx;
        const std::int64_t offset = kx * s.dilation_w - s.padding_w;
        const Reach inside = reach(offset, s.stride_w, s.w, s.ow);
        for (std::int64_t p = part.first; p < last;) {
          const std::int64_t i = p / s.ow, begin = p % s.ow;
          const std::int64_t end = std::min(s.ow, begin + last - p);
          const std::int64_t y = i * s.stride_h + ky * s.dilation_h - s.padding_h;
          Pixel* line = y < 0 || y >= s.h ? nullptr : x + (c * s.h + y) * s.w + offset;
          row(matrix_row * part.count + p - part.first, line, begin, end,
              Reach{std::clamp(inside.begin, begin, end), std::clamp(inside.end, begin, end)});
          p += end - begin;
        }
      }
}

}  // namespace

void to_columns(const Sizes& s, const ColumnPart& part, const float* x, float* columns) {
  for_each_row(s, part, x,
               [&](std::int64_t at, const float* line, std::int64_t begin, std::int64_t end,
                   const Reach& inside) {
                 float* to = columns + at - begin;
                 if (line == nullptr || inside.begin >= inside.end) {
                   std::fill(to + begin, to + end, 0.0f);
                   return;
                 }
                 std::fill(to + begin, to + inside.begin, 0.0f);
                 if (s.stride_w == 1)
                   std::copy(line + inside.begin, line + inside.end, to + inside.begin);
                 else
                   for (std::int64_t j = inside.begin; j < inside.end; ++j)
                     to[j] = line[j * s.stride_w];
                 std::fill(to + inside.end, to + end, 0.0f);
               });
}

void from_columns(const Sizes& s, const ColumnPart& part, const float* columns, float* x) {
  for_each_row(
      s, part, x,
      [&](std::int64_t at, float* line, std::int64_t begin, std::int64_t, const Reach& inside) {
        if (line == nullptr) return;
        const float* from = columns + at - begin;
        for (std::int64_t j = inside.begin; j < inside.end; ++j) line[j * s.stride_w] += from[j];
      });
}

}  // namespace tutti::cpu
