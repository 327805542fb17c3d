// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/gradient_norm.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(GradientNorm, IsTheRootOfTheSumOfSquares) {
  const Type block{DType::f32, {48}};
  EXPECT_EQ(run(gradient_norm, {{{}, {81}}}, {{"dtype", std::string("f64")}})[0], 9);
  EXPECT_PRED2(contains, error_of(gradient_norm, {block}),
               "[gradient_norm] the sum of squares is f32 48, expected a floating-point scalar");
}

}  // namespace
}  // namespace tutti::ops
