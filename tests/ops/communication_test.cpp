// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/communication.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using Int = std::int64_t;

const Type type_of_x{DType::f64, {2, 3}};
const Settings data_axis{{"axes", std::string("data")}};

TEST(Communication, AllreduceKeepsTheTypeAndIsItsOwnGradient) {
  Graph graph = graph_of(allreduce, {type_of_x}, data_axis);
  const Node node = graph.nodes[0];
  EXPECT_EQ(graph.type(node.outputs[0]), type_of_x);
  node.op->gradient(graph, node, node.outputs);
  EXPECT_EQ(graph.nodes.back().op, &allreduce);
  EXPECT_EQ(graph.nodes.back().settings, data_axis);
}

TEST(Communication, SendHasNoOutputAndRecvNoInput) {
  const Settings to{{"axes", std::string("stage")}, {"to", Int{1}}, {"message", std::string("x")}};
  EXPECT_TRUE(graph_of(send, {type_of_x}, to).nodes[0].outputs.empty());
  const Settings from{{"axes", std::string("stage")},
                      {"message", std::string("x")},
                      {"from", Int{0}},
                      {"shape", Shape{2, 3}},
                      {"dtype", std::string("f64")}};
  const Graph graph = graph_of(recv, {}, from);
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), type_of_x);
}

TEST(Communication, BroadcastKeepsTheTypeAndABarrierCarriesNothing) {
  EXPECT_EQ(graph_of(broadcast, {type_of_x}, data_axis).type(1), type_of_x);
  const Graph graph = graph_of(barrier, {}, data_axis);
  EXPECT_TRUE(graph.values.empty());
  EXPECT_FALSE(has_operand(graph.nodes[0]));
  EXPECT_FALSE(broadcast.undifferentiable.empty());
  EXPECT_FALSE(barrier.undifferentiable.empty());
}

TEST(Communication, CostCountsTheBytesHere) {
  EXPECT_EQ(allreduce.cost(data_axis, {type_of_x}, {type_of_x}).bytes_read, 48);
  EXPECT_EQ(send.cost(data_axis, {type_of_x}, {}).bytes_written, 0);
  EXPECT_EQ(recv.cost(data_axis, {}, {type_of_x}).bytes_written, 48);
}

TEST(Communication, WhatIsMissingIsNamed) {
  EXPECT_PRED2(contains, error_of(allreduce, {type_of_x}), "[allreduce]: 'axes' is missing");
  EXPECT_PRED2(contains, error_of(send, {type_of_x}, data_axis), "[send]: 'to' is missing");
  EXPECT_PRED2(contains, error_of(recv, {}, data_axis), "[recv]: 'from' is missing");
  EXPECT_FALSE(send.undifferentiable.empty());
  EXPECT_FALSE(recv.undifferentiable.empty());
}

}  // namespace
}  // namespace tutti::ops
