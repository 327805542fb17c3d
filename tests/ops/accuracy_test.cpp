// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/accuracy.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Accuracy, A01CountsRightAnswersByWeight) {
  const Argument logits{{4, 2}, {1, 0, 0, 1, 2, -1, 0, 5}};
  EXPECT_EQ(run(accuracy, {logits, labels({0, 1, 1, 1}), {{4}, {1, 2, 4, 8}}})[0], 11);
}

TEST(Accuracy, TheFirstOfEqualLogitsIsTheAnswer) {
  const Argument logits{{2, 3}, {1, 1, 1, 0, 7, 7}};
  EXPECT_EQ(run(accuracy, {logits, labels({0, 2}), {{2}, {1, 1}}})[0], 1);
}

TEST(Accuracy, IsAMetricOnly) {
  EXPECT_EQ(accuracy.gradient, nullptr);
  EXPECT_FALSE(accuracy.undifferentiable.empty());
}

TEST(Accuracy, ALabelThatIsNoClassIsNamed) {
  const Argument logits{{1, 2}, {0, 0}};
  EXPECT_THROW(run(accuracy, {logits, labels({2}), {{1}, {1}}}), Error);
}

}  // namespace
}  // namespace tutti::ops
