// SPDX-License-Identifier: Apache-2.0
// Point-wise operators at known points (B04); derivatives are checked by the operators' contract.
#include "tutti/ops/shared/pointwise.h"

#include "tutti/ops/add.h"
#include "tutti/ops/gelu.h"
#include "tutti/ops/leaky_relu.h"
#include "tutti/ops/multiply.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/sigmoid.h"
#include "tutti/ops/tanh.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

const Argument x{{3}, {-2, 0, 2}};

TEST(Pointwise, B04LeakyRelu) {
  expect_near(run(leaky_relu, {x}), {-0.02, 0, 2});
  EXPECT_EQ(run(leaky_relu, {x}, {{"slope", 0.5}}), (Values{-1, 0, 2}));
  EXPECT_EQ(run(leaky_relu_grad, {{{3}, {1, 1, 3}}, x}, {{"slope", 0.5}}), (Values{0.5, 0.5, 3}));
}

TEST(Pointwise, B04Sigmoid) {
  EXPECT_EQ(run(sigmoid, {{{3}, {0, 1e4, -1e4}}}), (Values{0.5, 1, 0}));
  EXPECT_EQ(run(sigmoid_grad, {{{2}, {1, 2}}, {{2}, {0.5, 0.25}}}), (Values{0.25, 0.375}));
}

TEST(Pointwise, B04Tanh) {
  EXPECT_EQ(run(tanh, {x}), (Values{std::tanh(-2.0), 0, std::tanh(2.0)}));
  EXPECT_EQ(run(tanh_grad, {{{2}, {1, 2}}, {{2}, {0, 0.5}}}), (Values{1, 1.5}));
}

TEST(Pointwise, B04GeluIsXTimesTheNormalDistribution) {
  expect_near(run(gelu, {{{3}, {0, 1, -1}}}), {0, 0.8413447460685429, -0.15865525393145707});
  EXPECT_EQ(run(gelu_grad, {{{1}, {2}}, {{1}, {0}}}), (Values{1}));
  expect_near(run(gelu_grad2, {{{2}, {1, 1}}, {{2}, {0, std::sqrt(2.0)}}}),
              {2 / std::sqrt(2 * M_PI), 0});
}

TEST(Pointwise, SumsProductsAndScales) {
  const Argument a{{2}, {1, 2}}, b{{2}, {10, -3}};
  EXPECT_EQ(run(add, {a, b}), (Values{11, -1}));
  EXPECT_EQ(run(multiply, {a, b}), (Values{10, -6}));
  EXPECT_EQ(run(scale, {b}, {{"factor", -2.0}}), (Values{-20, 6}));
}

TEST(Pointwise, B04WorkIsTheElementsAndDepthIsOne) {
  const std::vector<Type> image{{DType::f32, {8, 3, 5, 7}}};
  for (const Op* op : {&relu, &leaky_relu, &sigmoid, &tanh, &gelu}) {
    const Cost cost = op->cost({}, image, image);
    EXPECT_EQ(cost.work, 8 * 3 * 5 * 7) << op->name;
    EXPECT_EQ(cost.depth, 1) << op->name;
    EXPECT_EQ(cost.bytes_read, 4 * 8 * 3 * 5 * 7) << op->name;
  }
}

TEST(Pointwise, ShapesThatDifferAreRefused) {
  EXPECT_PRED2(contains, error_of(add, {{DType::f32, {2}}, {DType::f32, {3}}}),
               "[add] inputs differ");
  EXPECT_PRED2(contains, error_of(multiply, {{DType::f32, {2}}, {DType::f64, {2}}}), "[multiply]");
}

}  // namespace
}  // namespace tutti::ops
