// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(m×m, 3×3) (B13): Y = Aᵀ[(G w Gᵀ) ∘ (Bᵀ x B)]A on tiles of m + 2
// pixels, and the transposes of these transforms for the gradient of w. The element is a template
// parameter: a vector of 16 channels in kernels, a fraction in the test of exactness.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::cpu {

struct Fraction {
  int numerator = 0, denominator = 1;
};

template <std::size_t rows, std::size_t columns>
using Fractions = std::array<std::array<Fraction, columns>, rows>;

// The matrices Bᵀ (b), G (g) and Aᵀ (a) for m outputs; interpolation at 0, ±1, ±2, ±1/2 and
// infinity.
template <int m>
struct Winograd;

template <>
struct Winograd<2> {
  static constexpr Fractions<4, 4> b = {{{{{1}, {0}, {-1}, {0}}},
                                         {{{0}, {1}, {1}, {0}}},
                                         {{{0}, {-1}, {1}, {0}}},
                                         {{{0}, {1}, {0}, {-1}}}}};
  static constexpr Fractions<4, 3> g = {{{{{1}, {0}, {0}}},
                                         {{{1, 2}, {1, 2}, {1, 2}}},
                                         {{{1, 2}, {-1, 2}, {1, 2}}},
                                         {{{0}, {0}, {1}}}}};
  static constexpr Fractions<2, 4> a = {{{{{1}, {1}, {1}, {0}}}, {{{0}, {1}, {-1}, {-1}}}}};
};

template <>
struct Winograd<4> {
  static constexpr Fractions<6, 6> b = {{{{{4}, {0}, {-5}, {0}, {1}, {0}}},
                                         {{{0}, {-4}, {-4}, {1}, {1}, {0}}},
                                         {{{0}, {4}, {-4}, {-1}, {1}, {0}}},
                                         {{{0}, {-2}, {-1}, {2}, {1}, {0}}},
                                         {{{0}, {2}, {-1}, {-2}, {1}, {0}}},
                                         {{{0}, {4}, {0}, {-5}, {0}, {1}}}}};
  static constexpr Fractions<6, 3> g = {{{{{1, 4}, {0}, {0}}},
                                         {{{-1, 6}, {-1, 6}, {-1, 6}}},
                                         {{{-1, 6}, {1, 6}, {-1, 6}}},
                                         {{{1, 24}, {1, 12}, {1, 6}}},
                                         {{{1, 24}, {-1, 12}, {1, 6}}},
                                         {{{0}, {0}, {1}}}}};
  static constexpr Fractions<4, 6> a = {{{{{1}, {1}, {1}, {1}, {1}, {0}}},
                                         {{{0}, {1}, {-1}, {2}, {-2}, {0}}},
                                         {{{0}, {1}, {1}, {4}, {4}, {0}}},
                                         {{{0}, {1}, {-1}, {8}, {-8}, {1}}}}};
};

template <>
struct Winograd<6> {
  static constexpr Fractions<8, 8> b = {{{{{1}, {0}, {-21, 4}, {0}, {21, 4}, {0}, {-1}, {0}}},
                                         {{{0}, {1}, {1}, {-17, 4}, {-17, 4}, {1}, {1}, {0}}},
                                         {{{0}, {-1}, {1}, {17, 4}, {-17, 4}, {-1}, {1}, {0}}},
                                         {{{0}, {1, 2}, {1, 4}, {-5, 2}, {-5, 4}, {2}, {1}, {0}}},
                                         {{{0}, {-1, 2}, {1, 4}, {5, 2}, {-5, 4}, {-2}, {1}, {0}}},
                                         {{{0}, {2}, {4}, {-5, 2}, {-5}, {1, 2}, {1}, {0}}},
                                         {{{0}, {-2}, {4}, {5, 2}, {-5}, {-1, 2}, {1}, {0}}},
                                         {{{0}, {-1}, {0}, {21, 4}, {0}, {-21, 4}, {0}, {1}}}}};
  static constexpr Fractions<8, 3> g = {{{{{1}, {0}, {0}}},
                                         {{{-2, 9}, {-2, 9}, {-2, 9}}},
                                         {{{-2, 9}, {2, 9}, {-2, 9}}},
                                         {{{1, 90}, {1, 45}, {2, 45}}},
                                         {{{1, 90}, {-1, 45}, {2, 45}}},
                                         {{{32, 45}, {16, 45}, {8, 45}}},
                                         {{{32, 45}, {-16, 45}, {8, 45}}},
                                         {{{0}, {0}, {1}}}}};
  static constexpr Fractions<6, 8> a = {{{{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {0}}},
                                         {{{0}, {1}, {-1}, {2}, {-2}, {1, 2}, {-1, 2}, {0}}},
                                         {{{0}, {1}, {1}, {4}, {4}, {1, 4}, {1, 4}, {0}}},
                                         {{{0}, {1}, {-1}, {8}, {-8}, {1, 8}, {-1, 8}, {0}}},
                                         {{{0}, {1}, {1}, {16}, {16}, {1, 16}, {1, 16}, {0}}},
                                         {{{0}, {1}, {-1}, {32}, {-32}, {1, 32}, {-1, 32}, {1}}}}};
};

// out = M in Mᵀ, with `in` of columns × columns and `out` of rows × rows; where `transposed`, Mᵀ
// takes the place of M. `S` is the type that fractions are converted to: float for vectors of
// floats.
template <class S, bool transposed, std::size_t rows, std::size_t columns, class T>
[[gnu::always_inline]] inline void winograd_transform(const Fractions<rows, columns>& matrix,
                                                      const T* in, T* out) {
  constexpr std::size_t sizes[] = {columns, rows};
  constexpr int from = static_cast<int>(sizes[transposed]);
  constexpr int to = static_cast<int>(sizes[!transposed]);
  const auto at = [&](int r, int c) -> const Fraction& {
    return transposed ? matrix[static_cast<std::size_t>(c)][static_cast<std::size_t>(r)]
                      : matrix[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
  };
  T half[to * from];
#pragma GCC unroll 8
  for (int r = 0; r < to; ++r)
    for (int c = 0; c < from; ++c) {
      T sum{};
#pragma GCC unroll 8
      for (int k = 0; k < from; ++k)
        if (at(r, k).numerator != 0)
          sum = sum + in[k * from + c] * (S(at(r, k).numerator) / S(at(r, k).denominator));
      half[r * from + c] = sum;
    }
  for (int r = 0; r < to; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < to; ++c) {
      T sum{};
#pragma GCC unroll 8
      for (int k = 0; k < from; ++k)
        if (at(c, k).numerator != 0)
          sum = sum + half[r * from + k] * (S(at(c, k).numerator) / S(at(c, k).denominator));
      out[r * to + c] = sum;
    }
}

}  // namespace tutti::cpu
