// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/gain.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Gain, MultipliesAlongTheAxis) {
  const Argument x{{2, 2}, {1, 2, 3, 4}}, g{{2}, {10, 100}};
  EXPECT_EQ(run(gain, {x, g}), (Values{10, 200, 30, 400}));
  EXPECT_EQ(run(gain, {x, g}, {{"axis", std::int64_t{0}}}), (Values{10, 20, 300, 400}));
}

TEST(Gain, TheGradientSumsOverTheOtherAxes) {
  const Argument a{{2, 2}, {1, 2, 3, 4}}, b{{2, 2}, {1, 1, 10, 10}};
  EXPECT_EQ(run(gain_grad, {a, b}), (Values{31, 42}));
}

TEST(Gain, AVectorOfAnotherLengthIsRefused) {
  EXPECT_EQ(error_of(gain, {{DType::f32, {2, 3}}, {DType::f32, {2}}}),
            "[gain] g is f32 2, expected f32 3, the extent of axis 1 of 2×3");
}

}  // namespace
}  // namespace tutti::ops
