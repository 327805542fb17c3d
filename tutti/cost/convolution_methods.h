// SPDX-License-Identifier: Apache-2.0
// Work and depth of one convolution by each method of Table 6 of the ACM survey (K03), as counts.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/ops/shared/convolution_geometry.h"

#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct MethodCost {
  double work = 0, depth = 0;
};

// By the sum of Eq. 2. im2col has the same work and depth: it moves patches, the products are the
// same.
MethodCost direct_cost(const ops::Geometry& g);

// Transforms of the padded image with n pixels, each fft_constant · n log2 n operations: once per
// sample and channel of the input and of the output, and once per kernel. Then the products of the
// spectra, summed over channels.
constexpr double fft_constant = 5;
MethodCost fft_cost(const ops::Geometry& g);

// Winograd's F(m×m, r×r) with tiles of α = m + r − 1 (erratum 6).
struct WinogradCost : MethodCost {
  double products = 0;  // the element-wise ones, part of `work`
};
// Whether Winograd's method applies: square kernels of 2×2 and more, without stride, dilation and
// groups.
bool is_winograd(const ops::Geometry& g);
WinogradCost winograd_cost(const ops::Geometry& g, int m);

// A convolution of the forward pass, by each method.
struct ConvolutionRow {
  std::string name;
  ops::Geometry geometry;
  MethodCost direct, fft;
  std::optional<WinogradCost> winograd;  // by the better of m = 2 and m = 4
  int winograd_m = 0;
};
// One row for each convolution of the graph's forward pass.
std::vector<ConvolutionRow> convolution_methods(const Graph& graph);

}  // namespace tutti
