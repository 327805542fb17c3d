// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/huber.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Argument equal_weights{{2}, {1, 1}};

TEST(Huber, IsASquareWithinDeltaAndALineBeyond) {
  const Argument prediction{{2}, {0.5, 3}}, target{{2}, {0, 0}};
  // 0.5² / 2 + 1 · (3 - 1 / 2)
  EXPECT_EQ(run(huber, {prediction, target, equal_weights}), (Values{0.125 + 2.5}));
  // Both within: half the squared error.
  EXPECT_EQ(run(huber, {prediction, target, equal_weights}, {{"delta", 4.0}}),
            (Values{0.125 + 4.5}));
}

TEST(Huber, TheForceIsBounded) {
  const Argument prediction{{2, 2}, {0.5, 100, -100, 0}}, target{{2, 2}, {0, 0, 0, 0}};
  EXPECT_EQ(run(huber_grad, {prediction, target, equal_weights, scalar(1)}, {{"delta", 2.0}}),
            (Values{0.25, 1, -1, 0}));
}

TEST(Huber, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(error_of(huber, {{DType::f32, {2, 3}}, {DType::f32, {2, 4}}, {DType::f32, {2}}}),
            "[huber] prediction is f32 2×3 but target is f32 2×4, expected the same");
  EXPECT_EQ(error_of(huber, {{DType::f32, {2, 3}}, {DType::f32, {2, 3}}, {DType::f32, {3}}}),
            "[huber] sample weights are f32 3, expected f32 2");
}

}  // namespace
}  // namespace tutti::ops
