// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/bias.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using contract::Array;

TEST(Bias, AddsAlongTheAxis) {
  Array x({DType::f64, {2, 3, 2}}), b({DType::f64, {3}});
  for (std::int64_t i = 0; i < 12; ++i) x.set(i, static_cast<double>(100 * i));
  for (std::int64_t i = 0; i < 3; ++i) b.set(i, static_cast<double>(i + 1));
  const Settings settings = resolve(bias.settings, {}, "[bias]");
  const Array y = contract::run_reference(bias, settings, {x, b})[0];
  for (std::int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(y.get(i), static_cast<double>(100 * i + i / 2 % 3 + 1));
}

// B01: ∇b are the column sums of dy.
TEST(Bias, B01GradientSumsTheColumns) {
  Array dy({DType::f64, {3, 2}});
  for (std::int64_t i = 0; i < 6; ++i) dy.set(i, static_cast<double>(i));
  const Settings settings = resolve(bias_grad.settings, {}, "[bias_grad]");
  const Array db = contract::run_reference(bias_grad, settings, {dy})[0];
  EXPECT_EQ(db.get(0), 0 + 2 + 4);
  EXPECT_EQ(db.get(1), 1 + 3 + 5);
  const Cost cost = bias_grad.cost(settings, {dy.type}, {db.type});
  EXPECT_EQ(cost.work, 6);
  EXPECT_EQ(cost.depth, 2);  // log2 3, rounded up
}

TEST(Bias, SaysWhatDoesNotFit) {
  const Settings settings = resolve(bias.settings, {}, "[bias]");
  const auto infer = [&](const Type& x, const Type& b) { return bias.infer(settings, {x, b}); };
  EXPECT_THROW(infer({DType::f32, {4, 3}}, {DType::f32, {4}}), Error);
  EXPECT_THROW(infer({DType::f32, {4, 3}}, {DType::f64, {3}}), Error);
  EXPECT_THROW(infer({DType::i32, {4, 3}}, {DType::i32, {3}}), Error);
  EXPECT_THROW(infer({DType::f32, {3}}, {DType::f32, {3}}), Error);  // no axis 1
  EXPECT_THROW(bias_grad.infer(settings, {{DType::i32, {4, 3}}}), Error);
}

}  // namespace
}  // namespace tutti::ops
