// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/sample_norm.h"

#include "tutti/core/rng.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

Argument random(Shape shape, std::uint64_t key) {
  Argument argument{std::move(shape), {}};
  for (std::int64_t i = 0; i < elements(argument.shape); ++i)
    argument.values.push_back(3 + 2 * normal(key, static_cast<std::uint64_t>(i)));
  return argument;
}

struct Moments {
  double mean = 0, square = 0;
};
Moments moments(const Values& values, std::size_t first, std::size_t count) {
  Moments m;
  for (std::size_t i = first; i < first + count; ++i) {
    m.mean += values[i] / static_cast<double>(count);
    m.square += values[i] * values[i] / static_cast<double>(count);
  }
  return m;
}

TEST(SampleNorm, EachSampleGetsMeanZeroAndVarianceOne) {
  const Values y = run(sample_norm, {random({5, 3, 4}, 1)}, {{"epsilon", 0.0}});
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_NEAR(moments(y, 12 * n, 12).mean, 0, 1e-14);
    EXPECT_NEAR(moments(y, 12 * n, 12).square, 1, 1e-14);
  }
}

TEST(SampleNorm, EachGroupGetsMeanZeroAndVarianceOne) {
  const Values y =
      run(sample_norm, {random({2, 6, 4}, 1)}, {{"epsilon", 0.0}, {"groups", std::int64_t{3}}});
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_NEAR(moments(y, 8 * row, 8).mean, 0, 1e-14);
    EXPECT_NEAR(moments(y, 8 * row, 8).square, 1, 1e-14);
  }
}

TEST(SampleNorm, WithoutCenterOnlyTheMeanSquareIsOne) {
  const Argument x = random({3, 10}, 2);
  const Values y = run(sample_norm, {x}, {{"epsilon", 0.0}, {"center", false}});
  EXPECT_NEAR(moments(y, 0, 10).square, 1, 1e-14);
  EXPECT_NEAR(y[1] / y[0], x.values[1] / x.values[0], 1e-14);
}

TEST(SampleNorm, GainAndShiftHoldPerChannelOrPerElement) {
  const Argument x{{1, 2, 2}, {0, 2, 0, 2}};  // mean 1, variance 1
  EXPECT_EQ(run(sample_norm, {x, {{2}, {10, 100}}, {{2}, {1, 2}}}, {{"epsilon", 0.0}}),
            (Values{-9, 11, -98, 102}));
  EXPECT_EQ(run(sample_norm, {x, {{4}, {1, 2, 3, 4}}}, {{"epsilon", 0.0}}), (Values{-1, 2, -3, 4}));
}

TEST(SampleNorm, TheGradientNeitherShiftsNorScales) {
  const Argument x = random({4, 9}, 3), dy = random({4, 9}, 4);
  const Values dx = run(sample_norm_grad, {dy, x}, {{"epsilon", 0.0}});
  const Values normal = run(sample_norm, {x}, {{"epsilon", 0.0}});
  for (std::size_t n = 0; n < 4; ++n) {
    double sum = 0, along = 0;
    for (std::size_t i = 9 * n; i < 9 * n + 9; ++i) sum += dx[i], along += dx[i] * normal[i];
    EXPECT_NEAR(sum, 0, 1e-13);  // of values up to 10
    EXPECT_NEAR(along, 0, 1e-13);
  }
}

TEST(SampleNorm, WhatDoesNotFitIsRefused) {
  const Type x{DType::f32, {2, 6, 4}};
  EXPECT_EQ(error_of(sample_norm, {x}, {{"groups", std::int64_t{4}}}),
            "[sample_norm] dimension 1 of 2×6×4 can't be divided into 4 groups");
  EXPECT_EQ(
      error_of(sample_norm, {x, {DType::f32, {5}}}),
      "[sample_norm] gain and shift have 5 elements, expected 6 or 24 for 2×6×4 from axis 1 on");
  EXPECT_EQ(error_of(sample_norm, {x, {DType::f32, {6}}, {DType::f32, {24}}}),
            "[sample_norm] shift is f32 24, expected f32 6");
  EXPECT_EQ(error_of(sample_norm, {{DType::i32, {2, 6}}}),
            "[sample_norm] works on floating-point values, not i32");
}

}  // namespace
}  // namespace tutti::ops
