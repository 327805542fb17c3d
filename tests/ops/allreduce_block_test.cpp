// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allreduce_block.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(AllreduceBlock, GivesOneBlockForTheGradientsInIt) {
  const auto settings = [](std::int64_t count) {
    return Settings{{"axes", std::string("data")}, {"offset", std::int64_t{16}}, {"count", count}};
  };
  const std::vector<Type> in{{DType::f32, {5, 3}}, {DType::f32, {32}}};
  const Graph graph = graph_of(allreduce_block, in, settings(48));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), (Type{DType::f32, {48}}));
  EXPECT_EQ(error_of(allreduce_block, in, settings(46)),
            "[allreduce_block] gradients have 47 elements, expected at most the block's 46");
  EXPECT_EQ(error_of(allreduce_block, {{DType::f64, {4}}}, settings(48)),
            "[allreduce_block] a gradient is f64, expected f32");
}

}  // namespace
}  // namespace tutti::ops
