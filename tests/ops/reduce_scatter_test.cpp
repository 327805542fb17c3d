// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/reduce_scatter.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(ReduceScatter, GivesTheOwnPartOfABlock) {
  const Type block{DType::f32, {48}};
  const auto settings = [](std::int64_t offset, std::int64_t count) {
    return Settings{{"axes", std::string("data")}, {"part_offset", offset}, {"part_count", count}};
  };
  const Graph graph = graph_of(reduce_scatter, {block}, settings(16, 32));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), (Type{DType::f32, {32}}));
  EXPECT_EQ(error_of(reduce_scatter, {block}, settings(32, 17)),
            "[reduce_scatter] a part 17 at element 32 is not inside the block 48");
  // 32 elements of its own, so 16 of others are added.
  EXPECT_EQ(reduce_scatter.cost(settings(16, 32), {block}, {{DType::f32, {32}}}).work, 16);
}

}  // namespace
}  // namespace tutti::ops
