// SPDX-License-Identifier: Apache-2.0
// Transposition of a matrix: squares of 16×16 are transposed in registers. Compiled once per
// instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/turn.h"

#include "tutti/kernels/cpu/simd/vector.h"

#include <utility>

namespace tutti::cpu::TUTTI_ISA {
namespace {

constexpr int side = 16;
using Lanes = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;

// In every group of 2·size lanes, swaps the later half of `a` with the earlier half of `b`.
template <int size, int... lane>
[[gnu::always_inline]] inline void swap_lanes(Vector& a, Vector& b,
                                              std::integer_sequence<int, lane...>) {
  const Vector first = __builtin_shufflevector(a, b, (lane & size ? side + lane - size : lane)...);
  b = __builtin_shufflevector(a, b, (lane & size ? side + lane : lane + size)...);
  a = first;
}

template <int size>
[[gnu::always_inline]] inline void swap_blocks(Vector* rows) {
#pragma GCC unroll 16
  for (int r = 0; r < side; ++r)
    if ((r & size) == 0) swap_lanes<size>(rows[r], rows[r + size], Lanes());
}

[[gnu::always_inline]] inline float activated(float v, bool relu) {
  return relu && !(v > 0) ? 0.0f : v;
}

}  // namespace

void turn(const float* x, std::int64_t x_stride, float* y, std::int64_t y_stride, std::int64_t rows,
          std::int64_t columns, const float* bias, bool relu) {
  const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
  const Vector zero = {};
  for (std::int64_t r = 0; r < whole_rows; r += side)
    for (std::int64_t c = 0; c < whole_columns; c += side) {
      Vector square[side];
      for (int k = 0; k < side; ++k) square[k] = load(x + (r + k) * x_stride + c);
      swap_blocks<8>(square);
      swap_blocks<4>(square);
      swap_blocks<2>(square);
      swap_blocks<1>(square);
      const Vector added = bias == nullptr ? zero : load(bias + r);
      for (int k = 0; k < side; ++k) {
        const Vector sum = square[k] + added;
        store(y + (c + k) * y_stride + r, relu ? (sum > zero ? sum : zero) : sum);
      }
    }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      y[c * y_stride + r] = activated(x[r * x_stride + c] + (bias == nullptr ? 0 : bias[r]), relu);
}

}  // namespace tutti::cpu::TUTTI_ISA
