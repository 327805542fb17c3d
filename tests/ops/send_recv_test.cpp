// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/send_recv.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Type sent_type{DType::f64, {2, 3}};
const Settings only_axes{{"axes", std::string("stage")}};

TEST(SendRecv, SendHasNoOutputAndRecvNoInput) {
  const Settings to{
      {"axes", std::string("stage")}, {"to", std::int64_t{1}}, {"message", std::string("x")}};
  EXPECT_TRUE(graph_of(send, {sent_type}, to).nodes[0].outputs.empty());
  const Settings from{{"axes", std::string("stage")},
                      {"message", std::string("x")},
                      {"from", std::int64_t{0}},
                      {"shape", Shape{2, 3}},
                      {"dtype", std::string("f64")}};
  const Graph graph = graph_of(recv, {}, from);
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), sent_type);
}

TEST(SendRecv, CostCountsTheBytesHere) {
  EXPECT_EQ(send.cost(only_axes, {sent_type}, {}).bytes_written, 0);
  EXPECT_EQ(recv.cost(only_axes, {}, {sent_type}).bytes_written, 48);
}

TEST(SendRecv, WhatIsMissingIsNamed) {
  EXPECT_PRED2(contains, error_of(send, {sent_type}, only_axes), "[send]: 'to' is missing");
  EXPECT_PRED2(contains, error_of(recv, {}, only_axes), "[recv]: 'from' is missing");
  EXPECT_FALSE(send.undifferentiable.empty());
  EXPECT_FALSE(recv.undifferentiable.empty());
}

}  // namespace
}  // namespace tutti::ops
