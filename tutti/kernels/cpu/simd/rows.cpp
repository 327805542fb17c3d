// SPDX-License-Identifier: Apache-2.0
// The loops of the convolution variant `rows`. Compiled once per instruction set, with the rule of
// loops.cpp, and with fused multiply–adds.
#include "tutti/kernels/cpu/convolution/rows.h"

#include "tutti/kernels/cpu/simd/vector.h"

#include <utility>

namespace tutti::cpu::TUTTI_ISA {
namespace {

constexpr int lanes = sizeof(Vector) / sizeof(float);
static_assert(lanes <= row_slack);

// Loads a vector into a register and keeps it there. The compiler would load it again with every
// use, and most loads that are not aligned take twice as long.
[[gnu::always_inline]] inline Vector load_once(const float* at) {
  Vector v = load(at);
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#endif
  return v;
}

[[gnu::always_inline]] inline std::int64_t smallest(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline std::int64_t largest(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}

// The place of a vector in a plane of y. Vectors of a row overlap where its width is no multiple of
// the vector length; of vectors longer than the row only the beginning is stored.
struct Spot {
  std::int64_t line, column;
};

Spot spot_of(const RowSizes& s, std::int64_t vectors, std::int64_t k) {
  const std::int64_t column = k % vectors * lanes;
  const std::int64_t last = s.ow > lanes ? s.ow - lanes : 0;
  return {k / vectors, column < last ? column : last};
}

// Computes `channels` output channels from `first` on, at `spots` places.
template <int channels, int spots>
void forward_tile(const RowSizes& s, const RowPlanes& x, const float* w, const RowFinish& finish,
                  const RowPlanes& y, std::int64_t first, const Spot* at) {
  Vector sums[channels][spots];
  for (int o = 0; o < channels; ++o)
    for (int k = 0; k < spots; ++k)
      sums[o][k] = Vector{} + (finish.bias == nullptr ? 0.0f : finish.bias[first + o]);
  // Lines of padding add nothing; the last spot has the largest line.
  const std::int64_t ky_begin = largest(0, s.first_line - at[spots - 1].line);
  const std::int64_t ky_end = smallest(s.kh, s.end_line - at[0].line);
  for (std::int64_t c = 0; c < s.c; ++c)
    for (std::int64_t ky = ky_begin; ky < ky_end; ++ky) {
      const float* from[spots];
      for (int k = 0; k < spots; ++k) from[k] = x.at(c, at[k].line + ky) + at[k].column;
      const float* weights = w + (c * s.kh + ky) * s.kw * s.o + first;
      for (std::int64_t kx = 0; kx < s.kw; ++kx, weights += s.o) {
        Vector in[spots];
        for (int k = 0; k < spots; ++k) in[k] = load(from[k] + kx);
        for (int o = 0; o < channels; ++o)
          for (int k = 0; k < spots; ++k) sums[o][k] += in[k] * weights[o];
      }
    }
  if (finish.relu)
    for (int o = 0; o < channels; ++o)
      for (int k = 0; k < spots; ++k) sums[o][k] = sums[o][k] > 0 ? sums[o][k] : Vector{};
  const auto bytes = static_cast<std::size_t>(s.ow < lanes ? s.ow : lanes) * sizeof(float);
  for (int o = 0; o < channels; ++o)
    for (int k = 0; k < spots; ++k) {
      float* to = y.at(first + o, at[k].line) + at[k].column;
      if (bytes == sizeof(Vector))
        store(to, sums[o][k]);
      else
        __builtin_memcpy(to, &sums[o][k], bytes);
    }
}

constexpr int forward_channels = 8;

template <int spots, int... channels>
void forward_spots(const RowSizes& s, const RowPlanes& x, const float* w, const RowFinish& finish,
                   const RowPlanes& y, const Spot* at, std::integer_sequence<int, channels...>) {
  constexpr decltype(&forward_tile<1, spots>) tiles[] = {&forward_tile<channels + 1, spots>...};
  const std::int64_t blocks = (s.o + forward_channels - 1) / forward_channels;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = s.o * block / blocks, end = s.o * (block + 1) / blocks;
    tiles[end - begin - 1](s, x, w, finish, y, begin, at);
  }
}

void forward(const RowSizes& s, const RowPlanes& x, const float* w, const RowFinish& finish,
             const RowPlanes& y) {
  constexpr auto channels = std::make_integer_sequence<int, forward_channels>{};
  const std::int64_t vectors = (s.ow + lanes - 1) / lanes, all = vectors * s.oh;
  for (std::int64_t k = 0; k < all; k += 2) {
    const Spot spots[] = {spot_of(s, vectors, k), spot_of(s, vectors, k + 1)};
    if (k + 1 < all)
      forward_spots<2>(s, x, w, finish, y, spots, channels);
    else
      forward_spots<1>(s, x, w, finish, y, spots, channels);
  }
}

constexpr int weight_channels = 5, weight_columns = 5;  // with x and dy they fill 32 registers

// Adds to dw of `channels` output channels from `first` on and `columns` kernel columns from kx on.
template <int channels, int columns>
void weight_tile(const RowSizes& s, const RowPlanes& x, const RowPlanes& dy, float* sums,
                 std::int64_t c, std::int64_t ky, std::int64_t kx, std::int64_t first) {
  float* to = sums + (((c * s.kh + ky) * s.kw + kx) * s.o + first) * lanes;
  Vector all[columns][channels];
  for (int j = 0; j < columns; ++j)
    for (int o = 0; o < channels; ++o) all[j][o] = load(to + (j * s.o + o) * lanes);
  for (std::int64_t line = 0; line < s.oh; ++line) {
    const float* from = x.at(c, line + ky) + kx;
    const float* with = dy.at(first, line);
    for (std::int64_t i = 0; i < s.ow; i += lanes) {
      Vector in[columns];
      for (int j = 0; j < columns; ++j) in[j] = load_once(from + i + j);
      for (int o = 0; o < channels; ++o) {
        const Vector out = load(with + o * dy.plane + i);
        for (int j = 0; j < columns; ++j) all[j][o] += in[j] * out;
      }
    }
  }
  for (int j = 0; j < columns; ++j)
    for (int o = 0; o < channels; ++o) store(to + (j * s.o + o) * lanes, all[j][o]);
}

using WeightTile = decltype(&weight_tile<1, 1>);

template <int columns, int... channels>
constexpr WeightTile weight_tile_of(std::int64_t count, std::integer_sequence<int, channels...>) {
  constexpr WeightTile tiles[] = {&weight_tile<channels + 1, columns>...};
  return tiles[count - 1];
}

template <int... columns>
WeightTile weight_tile_of(std::int64_t count, std::int64_t width,
                          std::integer_sequence<int, columns...>) {
  const WeightTile tiles[] = {
      weight_tile_of<columns + 1>(count, std::make_integer_sequence<int, weight_channels>{})...};
  return tiles[width - 1];
}

void weight(const RowSizes& s, const RowPlanes& x, const RowPlanes& dy, float* sums) {
  constexpr auto columns = std::make_integer_sequence<int, weight_columns>{};
  const std::int64_t blocks = (s.o + weight_channels - 1) / weight_channels;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = s.o * block / blocks, end = s.o * (block + 1) / blocks;
    for (std::int64_t kx = 0; kx < s.kw; kx += weight_columns) {
      const std::int64_t width = s.kw - kx < weight_columns ? s.kw - kx : weight_columns;
      const WeightTile tile = weight_tile_of(end - begin, width, columns);
      for (std::int64_t c = 0; c < s.c; ++c)
        for (std::int64_t ky = 0; ky < s.kh; ++ky) tile(s, x, dy, sums, c, ky, kx, begin);
    }
  }
}

}  // namespace

extern const RowLoops row_loops;
const RowLoops row_loops{forward, weight};

}  // namespace tutti::cpu::TUTTI_ISA
