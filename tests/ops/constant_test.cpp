// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/constant.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Constant, HasAsManyRowsAsAnother) {
  const Settings rows{{"shape", Shape{-1, 2}}, {"value", 3.0}, {"dtype", "f64"}};
  EXPECT_EQ(run(constant, {matrix}, rows), (Values{3, 3, 3, 3}));
  EXPECT_PRED2(contains, error_of(constant, {}, rows), "expected a first extent of -1 where");
  EXPECT_PRED2(contains, error_of(constant, {{DType::f32, {4}}}, {{"shape", Shape{2}}}),
               "only there");
}

}  // namespace
}  // namespace tutti::ops
