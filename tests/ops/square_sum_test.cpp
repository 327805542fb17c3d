// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/square_sum.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(SquareSum, IsOverAllBlocksOrAPartOfEach) {
  const Type block{DType::f32, {48}};
  const std::vector<Argument> blocks{{{2}, {2, 4}}, {{3}, {5, 6, 0}}};
  EXPECT_EQ(run(square_sum, blocks)[0], 81);
  EXPECT_EQ(run(square_sum, blocks, {{"firsts", Shape{1, 0}}, {"counts", Shape{1, 2}}})[0], 77);
  EXPECT_PRED2(contains, error_of(square_sum, {block, {DType::f64, {3}}}),
               "[square_sum] blocks are f32 and f64");
  EXPECT_PRED2(contains,
               error_of(square_sum, {block}, {{"firsts", Shape{1}}, {"counts", Shape{48}}}),
               "part 0 ends at element 49, expected at most the block's 48");
  EXPECT_PRED2(contains, error_of(square_sum, {block, block}, {{"counts", Shape{1}}}),
               "0 firsts and 1 counts, expected one for each of 2 blocks");
}

}  // namespace
}  // namespace tutti::ops
