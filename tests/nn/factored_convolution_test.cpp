// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/describe.h"

#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using test::applied;
using test::Applied;

double multiply_adds(const Applied& a) {
  return cost_of_nodes(a.net.graph, 0, static_cast<int>(a.net.graph.nodes.size())).multiply_adds;
}

// w[o, c, k] = pointwise[o, c] · depthwise[c, k].
TEST(SeparableConvolution, B31IsTheConvolutionWithTheOuterProduct) {
  const Settings settings{
      {"channels", 5}, {"kernel", 3}, {"stride", 2}, {"padding", 1}, {"bias", false}};
  const Applied dense = applied("convolution", settings, {2, 4, 7, 6});
  const Applied separable = applied("separable_convolution", settings, {2, 4, 7, 6});
  const Array depthwise = contract::random_array({DType::f64, {4, 1, 3, 3}}, 1);
  const Array pointwise = contract::random_array({DType::f64, {5, 4, 1, 1}}, 2);
  Array w({DType::f64, {5, 4, 3, 3}});
  for (std::int64_t i = 0; i < w.count(); ++i)
    w.set(i, pointwise.get(i / 9) * depthwise.get(i / 9 % 4 * 9 + i % 9));
  const Array x = contract::random_array({DType::f64, {2, 4, 7, 6}}, 3);
  const Array expected = dense.output(x, {{dense.parameter("weight"), w}});
  const Array found = separable.output(x, {{separable.parameter("depthwise"), depthwise},
                                           {separable.parameter("pointwise"), pointwise}});
  EXPECT_LT(contract::difference(found, expected), 1e-14);
}

TEST(SeparableConvolution, B31CostRatioIsOneOverChannelsPlusOneOverWindow) {
  const Settings settings{{"channels", 64}, {"kernel", 3}, {"padding", 1}};
  const double ratio = multiply_adds(applied("separable_convolution", settings, {2, 8, 6, 6})) /
                       multiply_adds(applied("convolution", settings, {2, 8, 6, 6}));
  EXPECT_DOUBLE_EQ(ratio, 1.0 / 64 + 1.0 / 9);
  EXPECT_NEAR(ratio, 0.127, 5e-4);
}

TEST(SeparableConvolution, Refusals) {
  EXPECT_EQ(test::layer_error("separable_convolution",
                              {{"channels", 4}, {"kernel", Shape{1, 2, 3}}}, {2, 3, 8, 8}),
            "here: 'kernel' is [1, 2, 3], expected 1 or 2 entries for an image of 8×8");
}

}  // namespace
}  // namespace tutti
