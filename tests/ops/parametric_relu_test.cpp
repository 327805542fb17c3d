// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/parametric_relu.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(ParametricRelu, B04EachChannelHasItsSlope) {
  const Argument x{{1, 2, 2}, {-1, 2, -3, -4}};
  EXPECT_EQ(run(parametric_relu, {x, {{2}, {0.5, 0.25}}}), (Values{-0.5, 2, -0.75, -1}));
  EXPECT_EQ(run(parametric_relu, {x, {{1}, {0.5}}}), (Values{-0.5, 2, -1.5, -2}));
}

TEST(ParametricRelu, OtherNumbersOfSlopesAreRefused) {
  EXPECT_EQ(error_of(parametric_relu, {{DType::f32, {2, 3}}, {DType::f32, {2}}}),
            "[parametric_relu] slope is f32 2, expected f32 with one element or 3 (the channels of "
            "2×3)");
}

}  // namespace
}  // namespace tutti::ops
