// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/transpose.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Transpose, PutsDimensionsInOrder) {
  EXPECT_EQ(run(transpose, {matrix}, {{"permutation", Shape{1, 0}}}), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(shape_after(transpose, {2, 3, 4}, {{"permutation", Shape{2, 0, 1}}}), (Shape{4, 2, 3}));
}

TEST(Transpose, APermutationNamesEachDimensionOnce) {
  for (const Shape& wrong : {Shape{0}, Shape{0, 0}, Shape{1, 2}})
    EXPECT_PRED2(contains, error_of(transpose, {{DType::f32, {2, 3}}}, {{"permutation", wrong}}),
                 "of a tensor 2×3: expected each of 0 to 1 once");
}

}  // namespace
}  // namespace tutti::ops
