// SPDX-License-Identifier: Apache-2.0
// A tile of an image and its transform, as the tiled variants (FFT, Winograd) exchange them with
// the loops of one instruction set. A pixel is a vector of 16 channels.
#pragma once

#include "tutti/kernels/cpu/convolution/fourier.h"

#include <cstdint>

namespace tutti::cpu {

constexpr std::int64_t lanes = 16;

// Pixels (row, column) of a tile in memory; pixels outside [begin, end) are read as zero and not
// written. `data` is where pixel (0, 0) would lie. Strides are in floats and may be negative.
template <class Data>
struct TilePixels {
  Data* data = nullptr;
  std::int64_t row_stride = 0, pixel_stride = lanes;
  std::int64_t row_begin = 0, row_end = 0, column_begin = 0, column_end = 0;
};
using TileSource = TilePixels<const float>;
using TileTarget = TilePixels<float>;

// Coefficient f of a tile lies at data + f·stride; its imaginary part lies `imaginary` floats
// behind that.
template <class Data>
struct TilePlanes {
  Data* data = nullptr;
  std::int64_t stride = 0, imaginary = 0;
};

// Transforms of a tile from pixels to coefficients, and back; `buffer` is scratch memory of one
// thread.
using ToPlanes = void (*)(const FftPlan<float>&, const TileSource&, const TilePlanes<float>&,
                          float* buffer);
using FromPlanes = void (*)(const FftPlan<float>&, const TilePlanes<const float>&,
                            const TileTarget&, float* buffer);

// The transforms of one method: y = output(Σ image(x)·kernel(w)); dw = kernel_gradient(Σ
// image(x)·output_gradient(dy)).
struct TileTransforms {
  ToPlanes image, kernel, output_gradient;
  FromPlanes output, kernel_gradient;
};

// The transforms of all methods, compiled once per instruction set.
struct TileLoops {
  TileTransforms fft, winograd2, winograd4, winograd6;
};
// The transforms for the best instruction set of this processor.
const TileLoops& tile_loops();

}  // namespace tutti::cpu
