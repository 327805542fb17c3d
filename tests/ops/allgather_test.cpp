// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allgather.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Allgather, GivesTheBlockOfAPart) {
  const Type block{DType::f32, {48}};
  const auto settings = [](std::int64_t offset, std::int64_t count) {
    return Settings{{"axes", std::string("data")}, {"part_offset", offset}, {"count", count}};
  };
  const Graph graph = graph_of(allgather, {{DType::f32, {16}}}, settings(32, 48));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), block);
  EXPECT_EQ(error_of(allgather, {block}, settings(16, 48)),
            "[allgather] a part 48 at element 16 is not inside the block 48");
}

}  // namespace
}  // namespace tutti::ops
