// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/allreduce.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Allreduce, KeepsTheTypeAndIsItsOwnGradient) {
  const Type type{DType::f64, {2, 3}};
  const Settings axes{{"axes", std::string("data")}};
  Graph graph = graph_of(allreduce, {type}, axes);
  const Node node = graph.nodes[0];
  EXPECT_EQ(graph.type(node.outputs[0]), type);
  node.op->gradient(graph, node, node.outputs);
  EXPECT_EQ(graph.nodes.back().op, &allreduce);
  EXPECT_EQ(graph.nodes.back().settings, axes);
}

TEST(Allreduce, CostCountsTheBytesHere) {
  const Type type{DType::f64, {2, 3}};
  EXPECT_EQ(allreduce.cost({{"axes", std::string("data")}}, {type}, {type}).bytes_read, 48);
}

TEST(Allreduce, NeedsAxes) {
  EXPECT_PRED2(contains, error_of(allreduce, {{DType::f64, {2, 3}}}),
               "[allreduce]: 'axes' is missing");
}

}  // namespace
}  // namespace tutti::ops
