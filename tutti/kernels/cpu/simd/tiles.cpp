// SPDX-License-Identifier: Apache-2.0
// The transforms of tiles on vectors of 16 channels. Compiled once per instruction set, with the
// rule of loops.cpp: only functions of this namespace and always-inlined ones may appear here.
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are only passed to inlined functions
#include "tutti/kernels/cpu/convolution/tile_transforms.h"
#include "tutti/kernels/cpu/convolution/winograd.h"
#include "tutti/kernels/cpu/simd/vector.h"

namespace tutti::cpu::TUTTI_ISA {
namespace {

template <class Data>
TUTTI_ALWAYS_INLINE bool inside(const TilePixels<Data>& pixels, int row, int column) {
  return row >= pixels.row_begin && row < pixels.row_end && column >= pixels.column_begin &&
         column < pixels.column_end;
}
template <class Data>
TUTTI_ALWAYS_INLINE Data* pixel(const TilePixels<Data>& pixels, int row, int column) {
  return pixels.data + row * pixels.row_stride + column * pixels.pixel_stride;
}

void fft_to_planes(const FftPlan<float>& plan, const TileSource& from,
                   const TilePlanes<float>& planes, float* buffer) {
  fft_tile_forward<Vector>(
      plan, static_cast<int>(from.row_begin), static_cast<int>(from.row_end),
      [&](int row, int column) __attribute__((always_inline)) {
        return column >= from.column_begin && column < from.column_end
                   ? load(pixel(from, row, column))
                   : Vector{};
      },
      [&](int f, const Complex<Vector>& z) __attribute__((always_inline)) {
        float* to = planes.data + f * planes.stride;
        store(to, z.re);
        store(to + planes.imaginary, z.im);
      },
      reinterpret_cast<Complex<Vector>*>(buffer));
}

void fft_from_planes(const FftPlan<float>& plan, const TilePlanes<const float>& planes,
                     const TileTarget& to, float* buffer) {
  fft_tile_inverse<Vector>(
      plan, static_cast<int>(to.row_end),
      [&](int f) __attribute__((always_inline)) {
        const float* from = planes.data + f * planes.stride;
        return Complex<Vector>{load(from), load(from + planes.imaginary)};
      },
      [&](int row, int column, const Vector& v) __attribute__((always_inline)) {
        if (column < to.column_end) store(pixel(to, row, column), v * plan.scale);
      },
      reinterpret_cast<Complex<Vector>*>(buffer));
}

// Loads a tile, computes M tile Mᵀ and stores it as planes.
template <bool transposed, std::size_t rows, std::size_t columns>
TUTTI_ALWAYS_INLINE void winograd_to_planes(const Fractions<rows, columns>& matrix,
                                            const TileSource& from,
                                            const TilePlanes<float>& planes) {
  constexpr std::size_t sizes[] = {columns, rows};
  constexpr int n = static_cast<int>(sizes[transposed]);
  constexpr int f = static_cast<int>(sizes[!transposed]);
  Vector in[n * n], out[f * f];
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      in[row * n + column] = inside(from, row, column) ? load(pixel(from, row, column)) : Vector{};
  winograd_transform<float, transposed>(matrix, in, out);
  for (int k = 0; k < f * f; ++k) store(planes.data + k * planes.stride, out[k]);
}

template <bool transposed, std::size_t rows, std::size_t columns>
TUTTI_ALWAYS_INLINE void winograd_from_planes(const Fractions<rows, columns>& matrix,
                                              const TilePlanes<const float>& planes,
                                              const TileTarget& to) {
  constexpr int f = static_cast<int>(transposed ? rows : columns);
  constexpr int n = static_cast<int>(transposed ? columns : rows);
  Vector in[f * f], out[n * n];
  for (int k = 0; k < f * f; ++k) in[k] = load(planes.data + k * planes.stride);
  winograd_transform<float, transposed>(matrix, in, out);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      if (inside(to, row, column)) store(pixel(to, row, column), out[row * n + column]);
}

template <int m>
constexpr TileTransforms winograd() {
  using W = Winograd<m>;
  return {
      .image = [](const FftPlan<float>&, const TileSource& from, const TilePlanes<float>& to,
                  float*) { winograd_to_planes<false>(W::b, from, to); },
      .kernel = [](const FftPlan<float>&, const TileSource& from, const TilePlanes<float>& to,
                   float*) { winograd_to_planes<false>(W::g, from, to); },
      .output_gradient = [](const FftPlan<float>&, const TileSource& from,
                            const TilePlanes<float>& to,
                            float*) { winograd_to_planes<true>(W::a, from, to); },
      .output = [](const FftPlan<float>&, const TilePlanes<const float>& from, const TileTarget& to,
                   float*) { winograd_from_planes<false>(W::a, from, to); },
      .kernel_gradient = [](const FftPlan<float>&, const TilePlanes<const float>& from,
                            const TileTarget& to,
                            float*) { winograd_from_planes<true>(W::g, from, to); }};
}

}  // namespace

extern const TileLoops tile_loops;
const TileLoops tile_loops{
    .fft = {fft_to_planes, fft_to_planes, fft_to_planes, fft_from_planes, fft_from_planes},
    .winograd2 = winograd<2>(),
    .winograd4 = winograd<4>(),
    .winograd6 = winograd<6>()};

}  // namespace tutti::cpu::TUTTI_ISA
