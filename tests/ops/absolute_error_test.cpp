// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/absolute_error.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(AbsoluteError, WeighsTheMeanOverFeatures) {
  const Argument prediction{{2, 2}, {1, 2, 3, 4}}, target{{2, 2}, {2, 0, 3, 8}};
  EXPECT_EQ(run(absolute_error, {prediction, target, {{2}, {1, 0.5}}})[0], 1.5 + 0.5 * 2);
}

TEST(AbsoluteError, FeaturesHaveTheirOwnScale) {
  const Argument prediction{{2, 2}, {1, 2, 3, 4}}, target{{2, 2}, {2, 0, 3, 8}};
  const Argument weights{{2}, {1, 0.5}};
  const Settings scaled{{"scale", std::vector<double>{10, 0.5}}};
  EXPECT_EQ(run(absolute_error, {prediction, target, weights}, scaled)[0], 5.5 + 0.5 * 1);
  const Settings wrong{{"scale", std::vector<double>{1, 2, 3}}};
  EXPECT_THROW(run(absolute_error, {prediction, target, weights}, wrong), Error);
}

TEST(AbsoluteError, IsAMetricOnly) {
  EXPECT_EQ(absolute_error.gradient, nullptr);
  EXPECT_FALSE(absolute_error.undifferentiable.empty());
}

TEST(AbsoluteError, ShapesMustAgree) {
  EXPECT_THROW(run(absolute_error, {{{2}, {1, 2}}, {{1}, {1}}, {{2}, {1, 1}}}), Error);
  EXPECT_THROW(run(absolute_error, {{{2}, {1, 2}}, {{2}, {1, 2}}, {{1}, {1}}}), Error);
}

}  // namespace
}  // namespace tutti::ops
