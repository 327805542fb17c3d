// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/convolution_methods.h"

#include "tutti/ops/convolution.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Counts as doubles: they exceed integers in large networks.
double real(std::int64_t count) { return static_cast<double>(count); }

double depth_over_channels(const ops::Geometry& g) {
  return ops::reduction_depth({g.c / g.groups});
}

std::int64_t padded_elements(const ops::Geometry& g) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < g.image.size(); ++d) count *= g.image[d] + 2 * g.windows[d].padding;
  return count;
}

}  // namespace

MethodCost direct_cost(const ops::Geometry& g) {
  return {g.multiply_adds(), depth_over_channels(g) + ops::reduction_depth(g.kernel)};
}

MethodCost fft_cost(const ops::Geometry& g) {
  const std::int64_t image = padded_elements(g);
  const double kernels = real(g.o * (g.c / g.groups));
  const double transforms = kernels + real(g.n * g.c) + real(g.n * g.o);
  return {fft_constant * real(image) * std::log2(real(image)) * transforms +
              real(image) * real(g.n) * kernels,
          2.0 * log2_ceiling(image) + depth_over_channels(g)};
}

bool is_winograd(const ops::Geometry& g) {
  return g.kernel.size() == 2 && g.kernel[0] == g.kernel[1] && g.kernel[0] > 1 && g.groups == 1 &&
         std::all_of(g.windows.begin(), g.windows.end(), [](const ops::Window& window) {
           return window.stride == 1 && window.dilation == 1;
         });
}

WinogradCost winograd_cost(const ops::Geometry& g, int m) {
  const double r = real(g.kernel[0]), a = m + r - 1;
  double tiles = real(g.n);
  for (const std::int64_t extent : g.pixels) tiles *= real((extent + m - 1) / m);
  const double c = real(g.c), o = real(g.o);
  const double kernels = o * c * (a * r * r + a * a * r);
  const double inputs = tiles * c * 2 * a * a * a;
  const double outputs = tiles * o * (m * a * a + m * m * a);
  WinogradCost cost;
  cost.products = a * a * tiles * c * o;
  cost.work = kernels + inputs + outputs + cost.products;
  // The transform of the kernels, those of the image and of the result, and the sum over channels.
  cost.depth = 2 * log2_ceiling(g.kernel[0]) + 4 * log2_ceiling(static_cast<std::int64_t>(a)) +
               depth_over_channels(g);
  return cost;
}

std::vector<ConvolutionRow> convolution_methods(const Graph& graph) {
  std::vector<ConvolutionRow> rows;
  for (const Node& node : graph.nodes) {
    if (node.op != &ops::convolution) continue;
    const ops::Geometry g = ops::forward_geometry(node.settings, graph.types(node.inputs));
    ConvolutionRow row{node.name, g, direct_cost(g), fft_cost(g), std::nullopt};
    if (is_winograd(g))
      for (const int m : {2, 4}) {
        const WinogradCost cost = winograd_cost(g, m);
        if (row.winograd && row.winograd->work <= cost.work) continue;
        row.winograd = cost;
        row.winograd_m = m;
      }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tutti
