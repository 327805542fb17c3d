// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/upsample.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Settings linear{{"mode", std::string("linear")}};

TEST(Upsample, NearestRepeatsPixels) {
  const Argument x{{1, 1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_EQ(run(upsample, {x}), (Values{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
  EXPECT_EQ(run(upsample, {x}, {{"factor", Shape{1, 3}}}),
            (Values{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
}

// Centres lie at a quarter and three quarters between pixels, and stop at the outermost ones.
TEST(Upsample, LinearInterpolatesBetweenCentres) {
  EXPECT_EQ(run(upsample, {{{1, 1, 3}, {0, 4, 8}}}, linear), (Values{0, 1, 3, 5, 7, 8}));
}

TEST(Upsample, TheMeanStays) {
  const Argument x{{1, 1, 2, 3}, {1, -2, 3, 4, 5, -6}};
  for (const Settings& settings : {Settings{}, linear}) {
    const Values y = run(upsample, {x}, settings);
    double sum = 0;
    for (double value : y) sum += value;
    EXPECT_NEAR(sum, 4 * 5, 1e-13);
  }
}

TEST(Upsample, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(error_of(upsample, {{DType::f32, {1, 2, 3, 4}}}, {{"factor", Shape{1, 2, 3}}}),
            "[upsample] 'factor' is [1, 2, 3], expected 1 or 2 entries for 2 spatial dimensions");
  EXPECT_EQ(error_of(upsample, {{DType::f32, {1, 2}}}),
            "[upsample] x is f32 1×2, expected floating-point [n, c, 1 to 3 spatial extents]");
  EXPECT_EQ(error_of(upsample_grad, {{DType::f32, {1, 2, 3, 4}}}),
            "[upsample_grad] dy is 1×2×3×4, expected extents divisible by [2]");
}

}  // namespace
}  // namespace tutti::ops
