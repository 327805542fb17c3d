// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/one_hot.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(OneHot, MarksTheLabel) {
  const Settings settings{{"classes", std::int64_t{3}}, {"dtype", std::string("f64")}};
  EXPECT_EQ(run(one_hot, {labels({2, 0})}, settings), (Values{0, 0, 1, 1, 0, 0}));
  EXPECT_THROW(run(one_hot, {labels({3})}, settings), Error);
  EXPECT_EQ(error_of(one_hot, {{DType::f32, {4}}}, settings),
            "[one_hot] labels are f32 4, expected a vector of i32");
}

TEST(OneHot, SmoothedRowsSumToOne) {
  const Settings settings{
      {"classes", std::int64_t{4}}, {"dtype", std::string("f64")}, {"smoothing", 0.5}};
  EXPECT_EQ(run(one_hot, {labels({1})}, settings), (Values{0.125, 0.625, 0.125, 0.125}));
}

}  // namespace
}  // namespace tutti::ops
