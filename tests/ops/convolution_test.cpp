// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/convolution.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using contract::Array;
using Integers = std::vector<std::int64_t>;

Array convolve(const Settings& settings, const Array& x, const Array& w) {
  const Settings all = resolve(convolution.settings, settings, "[convolution]");
  return contract::run_reference(convolution, all, {x, w})[0];
}

// A convolution and its gradients as nodes 0, 1 and 2.
Graph convolution_of(const Settings& settings, const Shape& x_shape, const Shape& w_shape) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, x_shape});
  const ValueId w = graph.add_value("w", {DType::f32, w_shape});
  graph.add1(convolution, {x, w}, settings);
  const Node forward = graph.nodes[0];
  const ValueId dy = graph.add_value("dy", graph.type(forward.outputs[0]));
  const auto gradients = convolution.gradient(graph, forward, {dy});
  EXPECT_EQ(graph.shape(gradients[0]), x_shape);
  EXPECT_EQ(graph.shape(gradients[1]), w_shape);
  return graph;
}

Cost cost_of(const Graph& graph, std::size_t i) {
  const Node& node = graph.nodes[i];
  return node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
}

// B05: a kernel that is one at (ky, kx) reads the image from there: cross-correlation, not flipped.
TEST(Convolution, B05DeltaKernelShiftsTheImage) {
  const Array x = contract::random_array({DType::f64, {2, 1, 6, 5}}, 1);
  Array w({DType::f64, {1, 1, 3, 3}});
  w.set(2 * 3 + 0, 1);  // ky = 2, kx = 0
  const Array y = convolve({{"padding", Integers{1}}}, x, w);
  ASSERT_EQ(y.type.shape, x.type.shape);
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 5; ++j) {
        const bool inside = i + 1 < 6 && j - 1 >= 0;
        EXPECT_EQ(y.get((n * 6 + i) * 5 + j), inside ? x.get((n * 6 + i + 1) * 5 + j - 1) : 0);
      }
}

TEST(Convolution, B05OutputExtentsFollowTheFormula) {
  // ⌊(11 + 2·2 − 2·(3−1) − 1)/3⌋ + 1 = 4 and ⌊(9 + 0 − 1·(4−1) − 1)/2⌋ + 1 = 3.
  const Graph graph = convolution_of(
      {{"stride", Integers{3, 2}}, {"padding", Integers{2, 0}}, {"dilation", Integers{2, 1}}},
      {1, 1, 11, 9}, {1, 1, 3, 4});
  EXPECT_EQ(graph.shape(graph.nodes[0].outputs[0]), (Shape{1, 1, 4, 3}));
}

// Groups do not meet: two groups are two convolutions side by side.
TEST(Convolution, B05GroupsAreSeparateConvolutions) {
  const Array x = contract::random_array({DType::f64, {1, 4, 5}}, 1);
  const Array w = contract::random_array({DType::f64, {6, 2, 3}}, 2);
  const Array y = convolve({{"groups", std::int64_t{2}}}, x, w);
  for (std::int64_t group = 0; group < 2; ++group) {
    Array part_x({DType::f64, {1, 2, 5}}), part_w({DType::f64, {3, 2, 3}});
    for (std::int64_t i = 0; i < part_x.count(); ++i) part_x.set(i, x.get(group * 10 + i));
    for (std::int64_t i = 0; i < part_w.count(); ++i) part_w.set(i, w.get(group * 18 + i));
    const Array part_y = convolve({}, part_x, part_w);
    for (std::int64_t i = 0; i < part_y.count(); ++i)
      EXPECT_EQ(part_y.get(i), y.get(group * part_y.count() + i));
  }
}

// K03: N = 1, C = 64, an image of 56×56 (54×54 outputs), K = 3.
TEST(Convolution, K03DirectWorkAndDepth) {
  const Graph graph = convolution_of({}, {1, 64, 56, 56}, {64, 64, 3, 3});
  const Cost cost = cost_of(graph, 0);
  EXPECT_EQ(cost.work, 107495424);
  EXPECT_EQ(cost.multiply_adds, 107495424);
  EXPECT_EQ(cost.depth, 10);
}

// K02 with erratum 5: ∇x reduces over Cout·Ky·Kx, ∇w over N·H'·W'; the products are the same.
TEST(Convolution, K02GradientsReportTheirOwnReductions) {
  const Graph graph = convolution_of({}, {9, 5, 10, 20}, {17, 5, 3, 4});  // outputs 8 × 17
  const double products = 9.0 * 17 * 5 * 8 * 17 * 3 * 4;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cost_of(graph, i).work, products);
    EXPECT_EQ(cost_of(graph, i).multiply_adds, products);
  }
  EXPECT_EQ(cost_of(graph, 0).depth, 3 + 2 + 2);  // Cin = 5, K = 3, 4
  EXPECT_EQ(graph.nodes[1].op, &convolution_grad_weight);
  EXPECT_EQ(cost_of(graph, 1).depth, 4 + 3 + 5);  // N = 9, outputs 8 × 17
  EXPECT_EQ(graph.nodes[2].op, &convolution_grad_input);
  EXPECT_EQ(cost_of(graph, 2).depth, 5 + 2 + 2);  // Cout = 17, K = 3, 4
}

// B31: depth-wise then point-wise costs 1/Cout + 1/K² of the dense convolution.
TEST(Convolution, B31SeparableCostRatio) {
  const Settings same{{"padding", Integers{1}}};
  Settings depthwise = same;
  depthwise.set("groups", std::int64_t{64});
  const Shape x{1, 64, 14, 14};
  const double dense = cost_of(convolution_of(same, x, {64, 64, 3, 3}), 0).work;
  const double separable = cost_of(convolution_of(depthwise, x, {64, 1, 3, 3}), 0).work +
                           cost_of(convolution_of({}, x, {64, 64, 1, 1}), 0).work;
  EXPECT_DOUBLE_EQ(separable / dense, 1.0 / 64 + 1.0 / 9);
}

TEST(Convolution, GradWeightAlsoSumsTheBias) {
  const Settings settings =
      resolve(convolution_grad_weight.settings, {{"kernel", Integers{2}}, {"with_bias", true}}, "");
  const Array x = contract::random_array({DType::f64, {2, 1, 4}}, 1);
  Array dy({DType::f64, {2, 2, 3}});
  for (std::int64_t i = 0; i < 12; ++i) dy.set(i, static_cast<double>(i));
  const auto out = contract::run_reference(convolution_grad_weight, settings, {x, dy});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].get(0), 0 + 1 + 2 + 6 + 7 + 8);
  EXPECT_EQ(out[1].get(1), 3 + 4 + 5 + 9 + 10 + 11);
}

TEST(Convolution, ShardingFollowsGroupsAndEpilogue) {
  const Type x{DType::f32, {2, 4, 5, 5}}, w{DType::f32, {6, 4, 3, 3}}, b{DType::f32, {6}};
  const Settings plain = resolve(convolution.settings, {}, "");
  const Settings grouped = resolve(convolution.settings, {{"groups", std::int64_t{2}}}, "");
  EXPECT_EQ(convolution.sharding(plain, {x, w}), "x[n,c,h+k,w+l] w[o,c,k,l] -> y[n,o,h,w]");
  EXPECT_EQ(convolution.sharding(plain, {x, w, b}),
            "x[n,*,h+k,w+l] w[o,*,k,l] bias[o] -> y[n,o,h,w]");
  EXPECT_EQ(convolution.sharding(grouped, {x, {DType::f32, {6, 2, 3, 3}}}),
            "x[n,*,h+k,w+l] w[*,*,k,l] -> y[n,*,h,w]");
}

void expect_error(const Op& op, const Settings& settings, const std::vector<Type>& in,
                  const char* text) {
  try {
    op.infer(resolve(op.settings, settings, "[" + op.name + "]"), in);
    FAIL() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Convolution, SaysWhatDoesNotFit) {
  const Type x{DType::f32, {2, 4, 5, 5}}, w{DType::f32, {6, 4, 3, 3}};
  const Op& op = convolution;
  expect_error(op, {}, {{DType::f32, {2, 4}}, w}, "[convolution] x is f32 2×4");
  expect_error(op, {}, {x, {DType::i32, {6, 4, 3, 3}}}, "[convolution] w is i32");
  expect_error(op, {}, {x, {DType::f32, {6, 4, 3}}}, "expected one type and equal rank");
  expect_error(op, {}, {x, {DType::f32, {6, 3, 3, 3}}}, "x has 4 channels, but w has 3");
  expect_error(op, {{"groups", std::int64_t{2}}}, {x, {DType::f32, {5, 2, 3, 3}}},
               "can't be divided into 2 groups");
  expect_error(op, {{"stride", Integers{1, 1, 1}}}, {x, w},
               "'stride' is [1, 1, 1], expected 1 or 2");
  expect_error(op, {{"stride", Integers{0}}}, {x, w}, "'stride' is 0, expected at least 1");
  expect_error(op, {{"dilation", Integers{3}}}, {x, w},
               "spans 7 does not fit into an extent of 5 with padding 0");
  expect_error(op, {{"activation", "swish"}}, {x, w}, "'activation' is \"swish\"");
  expect_error(op, {}, {x, w, {DType::f32, {4}}}, "[convolution] bias is f32 4, expected f32 6");
}

TEST(ConvolutionGradients, SayWhatDoesNotFit) {
  const Type x{DType::f32, {2, 4, 5, 5}}, w{DType::f32, {6, 4, 3, 3}}, dy{DType::f32, {2, 6, 3, 3}};
  expect_error(convolution_grad_input, {}, {dy, w}, "'spatial' is missing");
  expect_error(convolution_grad_input, {{"spatial", Integers{5}}}, {dy, w},
               "the window has 2 spatial dimensions, the image 1");
  expect_error(convolution_grad_input, {{"spatial", Integers{6, 5}}}, {dy, w},
               "dy is 2×6×3×3, but the convolution returns 2×6×4×3");
  expect_error(convolution_grad_weight, {}, {x, dy}, "'kernel' is missing");
  expect_error(convolution_grad_weight, {{"kernel", Integers{2, 3}}}, {x, dy},
               "but the convolution returns 2×6×4×3");
}

}  // namespace
}  // namespace tutti::ops
