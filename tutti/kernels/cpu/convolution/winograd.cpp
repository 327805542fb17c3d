// SPDX-License-Identifier: Apache-2.0
// Our own Winograd convolution (B13) with tiles of 2, 4 or 6 outputs: (m + 2)² products instead of
// 9·m² for a tile. Larger tiles save more products and are less exact.
#include "tutti/kernels/cpu/convolution/winograd.h"

#include "tutti/kernels/cpu/convolution/own.h"
#include "tutti/kernels/cpu/convolution/tiled.h"

namespace tutti::cpu {
namespace {

template <int m>
constexpr OwnMethod method(const char* name, const char* doc) {
  return {
      .name = name,
      .doc = doc,
      .supports = [](const Sizes& s, Direction) { return s.dense() && s.kh == 3 && s.kw == 3; },
      .scratch_floats =
          [](const Sizes& s, Direction direction, int threads) {
            return tiled_scratch_floats(s, direction, winograd_tiling(m), threads);
          },
      .run =
          [](const Sizes& s, Direction direction, const Operands& all, float* scratch,
             int threads) { tiled_run(s, direction, winograd_tiling(m), all, scratch, threads); },
      .images = Images::blocked};
}

constexpr OwnMethod f2 = method<2>("winograd-f2", "our Winograd F(2×2, 3×3): the most exact");
constexpr OwnMethod f4 = method<4>("winograd", "our Winograd F(4×4, 3×3): 3×3 kernels, stride 1");
constexpr OwnMethod f6 = method<6>("winograd-f6", "our Winograd F(6×6, 3×3): the fewest products");

}  // namespace

Tiling winograd_tiling(int m) {
  const TileLoops& all = tile_loops();
  return {.transforms = m == 2   ? &all.winograd2
                        : m == 4 ? &all.winograd4
                                 : &all.winograd6,
          .tile = m + 2,
          .coefficients = static_cast<std::int64_t>(m + 2) * (m + 2)};
}

ConvolutionVariant winograd_f2_convolution() { return own_convolution<f2>(); }
ConvolutionVariant winograd_convolution() { return own_convolution<f4>(); }
ConvolutionVariant winograd_f6_convolution() { return own_convolution<f6>(); }

}  // namespace tutti::cpu
