// SPDX-License-Identifier: Apache-2.0
// Max-pooling by windows of 2×2. A vector of 16 columns of x makes 8 columns of y; the last vector
// of a row overlaps the one before. Compiled once per instruction set, see loops.cpp.
#include "tutti/kernels/cpu/simd/pairs.h"

#include "tutti/kernels/cpu/simd/vector.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

constexpr std::int64_t half = 8;
typedef std::int32_t Integers __attribute__((vector_size(64)));
typedef float HalfVector __attribute__((vector_size(32)));
typedef std::int32_t HalfIntegers __attribute__((vector_size(32)));
typedef std::uint8_t HalfBytes __attribute__((vector_size(8)));

constexpr Integers odd = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};

// Calls wide(column of y) for overlapping vectors, or narrow(column) where rows are too short.
template <class Wide, class Narrow>
[[gnu::always_inline]] inline void for_row(std::int64_t width, const Wide& wide,
                                           const Narrow& narrow) {
  if (width < half)
    for (std::int64_t i = 0; i < width; ++i) narrow(i);
  else
    for (std::int64_t i = 0; i < width; i += half) wide(i < width - half ? i : width - half);
}

}  // namespace

void max_pool_pairs(const PoolPlane& p, const float* x, float* y, std::uint8_t* index) {
  for (std::int64_t row = 0; row < p.out_height; ++row, y += p.out_width, index += p.out_width) {
    const float *a = x + 2 * row * p.width, *b = a + p.width;
    for_row(
        p.out_width,
        [&](std::int64_t i) __attribute__((always_inline)) {
          const Vector above = load(a + 2 * i), below = load(b + 2 * i);
          const Integers lower = below > above;  // all bits set where true
          const Vector best = lower ? below : above;
          const Integers where = odd + (lower & 2);
          const HalfVector left = __builtin_shufflevector(best, best, 0, 2, 4, 6, 8, 10, 12, 14);
          const HalfVector right = __builtin_shufflevector(best, best, 1, 3, 5, 7, 9, 11, 13, 15);
          const HalfIntegers left_at =
              __builtin_shufflevector(where, where, 0, 2, 4, 6, 8, 10, 12, 14);
          const HalfIntegers right_at =
              __builtin_shufflevector(where, where, 1, 3, 5, 7, 9, 11, 13, 15);
          // Of equal values the first in the order of the window wins.
          const HalfIntegers takes_right =
              (right > left) | ((right == left) & (right_at < left_at));
          const HalfVector largest = takes_right ? right : left;
          const HalfBytes position =
              __builtin_convertvector(takes_right ? right_at : left_at, HalfBytes);
          __builtin_memcpy(y + i, &largest, sizeof largest);
          __builtin_memcpy(index + i, &position, sizeof position);
        },
        [&](std::int64_t i) __attribute__((always_inline)) {
          const float window[] = {a[2 * i], a[2 * i + 1], b[2 * i], b[2 * i + 1]};
          int best = 0;
          for (int k = 1; k < 4; ++k)
            if (window[k] > window[best]) best = k;
          y[i] = window[best];
          index[i] = static_cast<std::uint8_t>(best);
        });
  }
}

void max_pool_pairs_grad(const PoolPlane& p, const float* dy, const std::uint8_t* index,
                         float* dx) {
  for (std::int64_t row = 0; row < p.out_height; ++row, dy += p.out_width, index += p.out_width) {
    float *a = dx + 2 * row * p.width, *b = a + p.width;
    for_row(
        p.out_width,
        [&](std::int64_t i) __attribute__((always_inline)) {
          HalfVector gradient;
          HalfBytes position;
          __builtin_memcpy(&gradient, dy + i, sizeof gradient);
          __builtin_memcpy(&position, index + i, sizeof position);
          const HalfIntegers at = __builtin_convertvector(position, HalfIntegers);
          const Vector both = __builtin_shufflevector(gradient, gradient, 0, 0, 1, 1, 2, 2, 3, 3, 4,
                                                      4, 5, 5, 6, 6, 7, 7);
          const Integers where =
              __builtin_shufflevector(at, at, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
          const Vector above = where == odd ? both : Vector{};
          const Vector below = where == odd + 2 ? both : Vector{};
          store(a + 2 * i, above);
          store(b + 2 * i, below);
        },
        [&](std::int64_t i) __attribute__((always_inline)) {
          a[2 * i] = index[i] == 0 ? dy[i] : 0.0f;
          a[2 * i + 1] = index[i] == 1 ? dy[i] : 0.0f;
          b[2 * i] = index[i] == 2 ? dy[i] : 0.0f;
          b[2 * i + 1] = index[i] == 3 ? dy[i] : 0.0f;
        });
  }
}

}  // namespace tutti::cpu::TUTTI_ISA
