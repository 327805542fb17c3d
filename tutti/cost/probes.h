// SPDX-License-Identifier: Apache-2.0
// The graphs that calibration times: products, convolutions with what usually follows them, pools,
// point-wise operators and updates. Sizes are spread over what networks have, not taken from any.
#pragma once

#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

// A copy of so many bytes in all, read and written.
Graph copy_probe(std::int64_t bytes);

// A linear layer with its two gradients.
Graph product_probe(std::int64_t n, std::int64_t in, std::int64_t out);

struct ConvolutionProbe {
  std::int64_t n = 1, in = 16, out = 16, extent = 14, kernel = 3, stride = 1, groups = 1;
  bool normalised = true;  // batch normalisation follows, else a bias; then a relu
  const char* variant = "auto";
};
Graph convolution_probe(const ConvolutionProbe& probe);

// Everything that calibration runs, beside copies.
std::vector<Graph> probes();

}  // namespace tutti
