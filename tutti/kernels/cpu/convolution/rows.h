// SPDX-License-Identifier: Apache-2.0
// The loops of the variant `rows`, compiled once per instruction set: vectors run along rows of an
// image, and the sums of several channels stay in registers.
#pragma once

#include <cstdint>

namespace tutti::cpu {

// The planes [channel][row][column] of one image. A vector that begins inside a row may reach past
// its end, and past the end of the last row by less than `row_slack` floats.
struct RowPlanes {
  float* data = nullptr;
  std::int64_t plane = 0, row = 0;  // floats from one plane, or row, to the next

  [[gnu::always_inline]] float* at(std::int64_t channel, std::int64_t line) const {
    return data + channel * plane + line * row;
  }
};
constexpr std::int64_t row_slack = 16;

struct RowSizes {
  std::int64_t c, o, kh, kw;          // input and output channels, extents of the kernel
  std::int64_t oh, ow;                // extents of y
  std::int64_t first_line, end_line;  // the lines of x that are not padding
};

// What forward() does to sums before it stores them.
struct RowFinish {
  const float* bias;  // nullptr: none
  bool relu;
};

struct RowLoops {
  // y[o] = Σ x[c] ∗ w[c][ky][kx][o], with bias and ReLU as `finish` says; x has its padding.
  void (*forward)(const RowSizes&, const RowPlanes& x, const float* w, const RowFinish& finish,
                  const RowPlanes& y);
  // Adds the products of x and dy to vectors of partial sums [c][ky][kx][o]. Rows of dy are filled
  // up with zeros to whole vectors.
  void (*weight)(const RowSizes&, const RowPlanes& x, const RowPlanes& dy, float* sums);
};

}  // namespace tutti::cpu
