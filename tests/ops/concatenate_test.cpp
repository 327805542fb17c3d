// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/concatenate.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using Int = std::int64_t;

TEST(Concatenate, LaysInputsSideBySide) {
  const Argument column{{2, 1}, {8, 9}};
  EXPECT_EQ(run(concatenate, {matrix, column}), (Values{1, 2, 3, 8, 4, 5, 6, 9}));
  EXPECT_EQ(run(concatenate, {matrix, {{1, 3}, {7, 8, 9}}}, {{"axis", Int{0}}}),
            (Values{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Concatenate, OtherDimensionsMustAgree) {
  EXPECT_PRED2(contains, error_of(concatenate, {{DType::f32, {2, 3}}, {DType::f32, {4, 3}}}),
               "[concatenate] input 1 is f32 4×3, expected f32 2×3 in all but axis 1");
  EXPECT_PRED2(contains, error_of(concatenate, {{DType::f32, {2, 3}}, {DType::f32, {2}}}),
               "[concatenate] input 1 is f32 2,");
  EXPECT_PRED2(contains, error_of(concatenate, {{DType::f32, {2}}}), "[concatenate] axis 1");
}

}  // namespace
}  // namespace tutti::ops
