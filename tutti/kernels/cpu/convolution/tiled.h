// SPDX-License-Identifier: Apache-2.0
// Convolution on transformed tiles of the images: y = out(Σ_c image(x)·kernel(w)), where the sum
// over channels is a matrix product for each coefficient of the transform. FFT and Winograd differ
// only in the transform. Kernels are transformed once for all images; tiles are worked on in
// chunks, which bounds the memory.
#pragma once

#include "tutti/kernels/cpu/convolution/sizes.h"
#include "tutti/kernels/cpu/convolution/tile_transforms.h"

namespace tutti::cpu {

// One transform of tiles.
struct Tiling {
  const TileTransforms* transforms = nullptr;
  FftPlan<float> plan = {};
  std::int64_t tile = 0;           // pixels of a tile along each side
  std::int64_t coefficients = 0;   // coefficients of a transformed tile
  std::int64_t parts = 1;          // floats of a coefficient; 2: complex
  std::int64_t buffer_floats = 0;  // scratch memory of one thread
};

Tiling fft_tiling(int tile);          // 16, 32 or 64 pixels
Tiling winograd_tiling(int outputs);  // 2, 4 or 6 outputs, kernels of 3×3

// The sizes of the convolution that computes a direction. The gradient of the input is a
// convolution of dy with flipped kernels, so x and y change places.
Sizes seen_from(const Sizes& sizes, Direction direction);

// The number of tiles of all images.
std::int64_t tiled_tiles(const Sizes& sizes, Direction direction, const Tiling& tiling);
std::int64_t tiled_scratch_floats(const Sizes& sizes, Direction direction, const Tiling& tiling,
                                  int threads);
void tiled_run(const Sizes& sizes, Direction direction, const Tiling& tiling, const Operands& all,
               float* scratch, int threads);

}  // namespace tutti::cpu
