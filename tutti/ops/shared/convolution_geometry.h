// SPDX-License-Identifier: Apache-2.0
// What convolutions and their two gradients share: the sizes, the sum of products that all three
// are, and the sizes at which they are tested.
#pragma once

#include "tutti/graph/op.h"
#include "tutti/ops/shared/window.h"

#include <vector>

namespace tutti::ops {

// The sizes of a convolution: n images of c channels, o output channels.
struct Geometry {
  std::int64_t n = 0, c = 0, o = 0, groups = 1;
  Shape kernel = {}, image = {}, pixels = {};  // spatial extents of w, x and y
  std::vector<Window> windows = {};

  double multiply_adds() const {
    const std::int64_t inputs = c / groups;  // channels that one output channel reads
    return static_cast<double>(n * o * inputs) * static_cast<double>(elements(pixels)) *
           static_cast<double>(elements(kernel));
  }
};

// The type [outer, channels, spatial…]: of images, where `outer` counts samples, or of weights,
// where it counts output channels.
Type image_type(DType dtype, std::int64_t outer, std::int64_t channels, const Shape& spatial);

// `kernel`: the spatial extents of the weights whose gradient is computed; a required list.
Setting kernel_setting();

// The cost of all multiply–adds of the convolution; `depth` is that of the longest sum.
Cost products_cost(const Geometry& geometry, double depth);

// The geometry from the inputs of each of the three operators; throws Error when the inputs don't
// fit together.
Geometry forward_geometry(const Settings& settings, const std::vector<Type>& in);  // x, w
Geometry input_geometry(const Settings& settings, const std::vector<Type>& in);    // dy, w
Geometry weight_geometry(const Settings& settings, const std::vector<Type>& in);   // x, dy

// Calls product(x index, w index, y index) for every multiply–add that does not read the padding.
template <class Product>
void for_each_product(const Geometry& g, Product&& product) {
  const std::vector<Tap> all = taps(g.windows, g.image);
  const std::int64_t image = elements(g.image), kernel = elements(g.kernel);
  const std::int64_t pixels = elements(g.pixels);
  const std::int64_t group_c = g.c / g.groups, group_o = g.o / g.groups;
  for (std::int64_t n = 0; n < g.n; ++n)
    for (std::int64_t o = 0; o < g.o; ++o)
      for (std::int64_t c = 0; c < group_c; ++c) {
        const std::int64_t x = (n * g.c + o / group_o * group_c + c) * image;
        const std::int64_t w = (o * group_c + c) * kernel;
        const std::int64_t y = (n * g.o + o) * pixels;
        for (const Tap& tap : all) product(x + tap.in, w + tap.kernel, y + tap.out);
      }
}

// A size at which convolution and its two gradients are tested, given by the inputs of the forward
// operator.
struct ConvolutionCase {
  Settings settings;
  Shape x, w;
};

std::vector<ConvolutionCase> convolution_cases();

}  // namespace tutti::ops
