// SPDX-License-Identifier: Apache-2.0
// Convolution by Fourier transforms (B10) of tiles of 16, 32 or 64 pixels (overlap-save).
#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/tiled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tutti::cpu {
namespace {

constexpr std::array<int, 3> tile_sides = {16, 32, 64};

const FftTables<float>& tables_of(int n) {
  static const std::array<FftTables<float>, 3> tables = {
      make_fft_tables<float>(16), make_fft_tables<float>(32), make_fft_tables<float>(64)};
  return *std::find_if(tables.begin(), tables.end(),
                       [&](const FftTables<float>& one) { return one.n == n; });
}

bool fits(const Sizes& s, int n) { return s.kh <= n && s.kw <= n; }

// The estimated work: operations of the products, and of the transforms times 4, since these run at
// about a quarter of the speed.
double work(const Sizes& s, Direction direction, int n) {
  constexpr double slowness = 4;
  const double side = n, transform = slowness * 5 * side * side * std::log2(side);
  const auto c = static_cast<double>(s.c), o = static_cast<double>(s.o);
  const Tiling tiling = fft_tiling(n);
  const auto tiles = static_cast<double>(tiled_tiles(s, direction, tiling));
  return tiles * (8 * static_cast<double>(tiling.coefficients) * c * o + (c + o) * transform) +
         c * o * transform;
}

Tiling best_tiling(const Sizes& s, Direction direction) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const int n : tile_sides)
    if (fits(s, n) && work(s, direction, n) < least) {
      least = work(s, direction, n);
      best = n;
    }
  return fft_tiling(best);
}

constexpr OwnMethod fft{
    .name = "fft",
    .doc = "Fourier transforms of tiles: stride 1, kernels up to 64; large kernels",
    .supports = [](const Sizes& s, Direction) { return s.dense() && fits(s, tile_sides.back()); },
    .scratch_floats =
        [](const Sizes& s, Direction direction, int threads) {
          return tiled_scratch_floats(s, direction, best_tiling(s, direction), threads);
        },
    .run =
        [](const Sizes& s, Direction direction, const Operands& all, float* scratch, int threads) {
          tiled_run(s, direction, best_tiling(s, direction), all, scratch, threads);
        },
    .images = Images::blocked};

}  // namespace

Tiling fft_tiling(int n) {
  const FftPlan<float> plan = tables_of(n).plan();
  return {.transforms = &tile_loops().fft,
          .plan = plan,
          .tile = n,
          .coefficients = plan.coefficients(),
          .parts = 2,
          .buffer_floats = (plan.coefficients() + n) * 2 * lanes};
}

ConvolutionVariant fft_convolution() { return own_convolution<fft>(); }

}  // namespace tutti::cpu
