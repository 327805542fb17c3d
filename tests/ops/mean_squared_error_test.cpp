// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/mean_squared_error.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Argument prediction{{2, 2}, {1, 2, 3, 4}}, target{{2, 2}, {1, 0, 0, 0}}, weights{{2}, {1, 2}};

TEST(MeanSquaredError, A01IsTheWeightedMeanOverFeatures) {
  EXPECT_EQ(run(mean_squared_error, {prediction, target, weights})[0], 4 / 2 + 2 * (9 + 16) / 2);
}

TEST(MeanSquaredError, GradientIsTwiceTheError) {
  EXPECT_EQ(run(mean_squared_error_grad, {prediction, target, weights, scalar(0.5)}),
            (Values{0, 1, 3, 4}));
}

TEST(MeanSquaredError, TypesThatDoNotFitAreRefused) {
  const Type matrix{DType::f32, {4, 3}}, vector{DType::f32, {4}};
  EXPECT_EQ(error_of(mean_squared_error, {matrix, matrix, vector}), "");
  EXPECT_PRED2(contains, error_of(mean_squared_error, {{DType::i32, {4}}, matrix, vector}),
               "[mean_squared_error] prediction is i32 4, expected floating-point");
  EXPECT_PRED2(contains, error_of(mean_squared_error, {matrix, vector, vector}),
               "prediction is f32 4×3 but target is f32 4");
  EXPECT_PRED2(contains, error_of(mean_squared_error, {matrix, matrix, matrix}),
               "sample weights are f32 4×3, expected f32 4");
}

}  // namespace
}  // namespace tutti::ops
