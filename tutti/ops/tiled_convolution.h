// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// tiled_convolution(x[n,c,spatial…], w[tile,o,c,kernel…]; period) -> y[n,o,spatial…]
extern const Op tiled_convolution;
extern const Op tiled_convolution_grad_input;   // (dy, w; period, spatial) -> dx
extern const Op tiled_convolution_grad_weight;  // (x, dy; period, kernel) -> dw

// The number of tiles, which is how many different weights an output of these extents is made with:
// Π min(period, extent). A period of 0 stands for the whole extent: each position has its own
// weights.
std::int64_t tiles_of(const Settings& settings, const Shape& pixels);

}  // namespace tutti::ops
