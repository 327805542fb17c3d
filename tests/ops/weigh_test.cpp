// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/weigh.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Argument a{{2, 2}, {1, 2, 3, 4}}, b{{2, 2}, {1, 1, 2, 0}}, signs{{2}, {1, -1}};

TEST(Weigh, MultipliesSamples) {
  EXPECT_EQ(run(weigh, {a, signs, scalar(2)}), (Values{2, 4, -6, -8}));
}

TEST(Weigh, WeightedDotSums) { EXPECT_EQ(run(weighted_dot, {a, b, signs})[0], 3 - 6); }

TEST(Weigh, TypesThatDoNotFitAreRefused) {
  const Type x{DType::f32, {4, 3}}, w{DType::f32, {4}}, s{DType::f32, {}};
  EXPECT_PRED2(contains, error_of(weigh, {x, x, s}), "[weigh] weights are f32 4×3");
  EXPECT_PRED2(contains, error_of(weigh, {x, w, w}), "[weigh] s is f32 4, expected a scalar f32");
  EXPECT_PRED2(contains, error_of(weighted_dot, {x, w, w}), "[weighted_dot] inputs differ");
  EXPECT_PRED2(contains, error_of(weighted_dot, {x, x, s}), "[weighted_dot] weights are");
}

}  // namespace
}  // namespace tutti::ops
