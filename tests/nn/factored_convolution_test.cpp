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

// Every kernel has the full rank c · k: `first` picks a row of a channel, `last` holds the kernel.
TEST(ReshapedConvolution, B33FullRankIsAnyConvolution) {
  const Settings window{{"channels", 5},
                        {"kernel", Shape{3, 2}},
                        {"stride", Shape{2, 1}},
                        {"padding", Shape{1, 0}},
                        {"bias", false}};
  Settings with_rank = window;
  with_rank.set("rank", std::int64_t{6});
  const Applied dense = applied("convolution", window, {2, 2, 7, 6});
  const Applied reshaped = applied("reshaped_convolution", with_rank, {2, 2, 7, 6});
  const Array w = contract::random_array({DType::f64, {5, 2, 3, 2}}, 1);
  Array first({DType::f64, {6, 2, 3, 1}}), last({DType::f64, {5, 6, 1, 2}});
  for (std::int64_t r = 0; r < 6; ++r) first.set(r * 6 + r, 1);
  for (std::int64_t i = 0; i < w.count(); ++i) last.set(i, w.get(i));
  const Array x = contract::random_array({DType::f64, {2, 2, 7, 6}}, 2);
  const Array expected = dense.output(x, {{dense.parameter("weight"), w}});
  const Array found = reshaped.output(
      x, {{reshaped.parameter("first"), first}, {reshaped.parameter("last"), last}});
  EXPECT_LT(contract::difference(found, expected), 1e-14);
}

TEST(ReshapedConvolution, B33ParametersAreRankTimesRowsAndColumns) {
  const Settings settings{{"channels", 64}, {"kernel", 3}, {"rank", 16}, {"bias", false}};
  EXPECT_EQ(applied("reshaped_convolution", settings, {2, 32, 8, 8}).net.table.parameters(true),
            16 * 3 * (32 + 64));
}

TEST(ReshapedConvolution, Refusals) {
  EXPECT_EQ(test::layer_error("reshaped_convolution",
                              {{"channels", 4}, {"kernel", 3}, {"rank", 10}}, {2, 3, 8, 8}),
            "here: 'rank' is 10, expected at most 9, that of all kernels");
  EXPECT_EQ(test::layer_error("reshaped_convolution", {{"channels", 4}, {"kernel", 3}, {"rank", 1}},
                              {2, 3, 8}),
            "here: the input is 2×3×8, expected batch × channels × height × width");
}

TEST(SeparableConvolution, Refusals) {
  EXPECT_EQ(test::layer_error("separable_convolution",
                              {{"channels", 4}, {"kernel", Shape{1, 2, 3}}}, {2, 3, 8, 8}),
            "here: 'kernel' is [1, 2, 3], expected 1 or 2 entries for an image of 8×8");
}

}  // namespace
}  // namespace tutti
