// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/cross_entropy.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

TEST(CrossEntropy, A01EqualLogitsGiveTheLogOfTheClasses) {
  const Argument logits{{1, 10}, std::vector<double>(10, 3.7)};
  const double loss = run(softmax_cross_entropy, {logits, labels({4}), {{1}, {1}}})[0];
  EXPECT_NEAR(loss, 2.302585092994046, 1e-14);
}

TEST(CrossEntropy, A01LargeLogitsStayFinite) {
  const Argument logits{{2, 2}, {1e4, -1e4, -1e4, 1e4}}, weights{{2}, {1, 1}};
  EXPECT_EQ(run(softmax_cross_entropy, {logits, labels({0, 0}), weights})[0], 2e4);
  EXPECT_EQ(run(softmax_cross_entropy_grad, {logits, labels({0, 0}), weights, scalar(1)}),
            (Values{0, 0, -1, 1}));
}

TEST(CrossEntropy, WeightsMultiplySamplesAndZeroLeavesThemOut) {
  const Argument logits{{2, 2}, {0, 0, 5, 1}};
  EXPECT_NEAR(run(softmax_cross_entropy, {logits, labels({1, 0}), {{2}, {3, 0}}})[0],
              3 * std::log(2.0), 1e-15);
  EXPECT_EQ(run(softmax_cross_entropy_grad, {logits, labels({1, 0}), {{2}, {3, 0}}, scalar(2)}),
            (Values{3, -3, 0, 0}));
}

TEST(CrossEntropy, A01GradientIsSoftmaxMinusTheUnitVector) {
  const Argument logits{{1, 2}, {0, std::log(3.0)}};
  const auto dz = run(softmax_cross_entropy_grad, {logits, labels({1}), {{1}, {1}}, scalar(1)});
  EXPECT_NEAR(dz[0], 0.25, 1e-15);
  EXPECT_NEAR(dz[1], -0.25, 1e-15);
}

// The smoothed loss is the mean of the losses over all labels, weighted 1 - s + s / c and s / c.
TEST(CrossEntropy, SmoothingSpreadsThePartOverAllClasses) {
  const Argument logits{{1, 3}, {0.3, -1, 2}}, one{{1}, {1}};
  const auto loss = [&](double label, double smoothing) {
    return run(softmax_cross_entropy, {logits, labels({label}), one},
               {{"smoothing", smoothing}})[0];
  };
  EXPECT_NEAR(loss(1, 0.3), 0.8 * loss(1, 0) + 0.1 * loss(0, 0) + 0.1 * loss(2, 0), 1e-14);
  const Values dz =
      run(softmax_cross_entropy_grad, {logits, labels({1}), one, scalar(1)}, {{"smoothing", 0.3}});
  EXPECT_NEAR(dz[0] + dz[1] + dz[2], 0, 1e-15);
}

TEST(CrossEntropy, ALabelThatIsNoClassIsNamed) {
  const Argument logits{{2, 3}, std::vector<double>(6)}, weights{{2}, {1, 1}};
  for (const double wrong : {3.0, -1.0}) {
    try {
      run(softmax_cross_entropy, {logits, labels({0, wrong}), weights});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(
          error.what(),
          fmt::format("[softmax_cross_entropy] sample 1 has label {}, expected 0 to 2", wrong));
    }
    EXPECT_THROW(run(softmax_cross_entropy_grad, {logits, labels({wrong, 0}), weights, scalar(1)}),
                 Error);
  }
}

TEST(CrossEntropy, TypesThatDoNotFitAreRefused) {
  const Type logits{DType::f32, {4, 3}}, classes{DType::i32, {4}}, weights{DType::f32, {4}};
  EXPECT_EQ(error_of(softmax_cross_entropy, {logits, classes, weights}), "");
  EXPECT_PRED2(contains, error_of(softmax_cross_entropy, {weights, classes, weights}),
               "[softmax_cross_entropy] logits are f32 4, expected");
  EXPECT_PRED2(contains, error_of(softmax_cross_entropy, {logits, weights, weights}),
               "labels are f32 4, expected i32 4");
  EXPECT_PRED2(contains, error_of(softmax_cross_entropy, {logits, classes, {DType::f64, {4}}}),
               "sample weights are f64 4, expected f32 4");
}

}  // namespace
}  // namespace tutti::ops
