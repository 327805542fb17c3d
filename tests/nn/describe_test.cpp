// SPDX-License-Identifier: Apache-2.0
// K01, K12: work, depth and W/D of a network, layer by layer.
#include "tutti/nn/describe.h"

#include "tutti/nn/layer.h"
#include "tutti/ops/add.h"
#include "tutti/ops/relu.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Net lenet(std::int64_t batch) {
  return build_net(models().find("lenet"), {},
                   {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = batch});
}

TEST(Describe, K01WorkAddsUpAndDepthFollowsTheLongestPath) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4, 5}});
  ValueId y = graph.add1(ops::relu, {x});
  y = graph.add1(ops::relu, {y});
  const ValueId z = graph.add1(ops::relu, {x});
  graph.add1(ops::add, {y, z});
  const Cost cost = cost_of_nodes(graph, 0, 4);
  EXPECT_EQ(cost.work, 4 * 20);
  EXPECT_EQ(cost.depth, 3);
  EXPECT_EQ(cost_of_nodes(graph, 2, 4).depth, 2);
  EXPECT_EQ(cost_of_nodes(graph, 1, 1).work, 0);
}

TEST(Describe, OnlyTheForwardPartCounts) {
  const Net net = lenet(1);
  Cost sum;
  for (const LayerInfo& layer : net.layers) {
    const Cost cost = cost_of_nodes(net.graph, layer.first_node, layer.last_node);
    sum.work += cost.work;
    sum.depth += cost.depth;  // a chain: depths add
  }
  EXPECT_EQ(forward_cost(net).work, sum.work);
  EXPECT_EQ(forward_cost(net).depth, sum.depth);
}

TEST(Describe, CostsAreThoseOfTheBatch) {
  EXPECT_EQ(forward_cost(lenet(8)).multiply_adds, 8 * forward_cost(lenet(1)).multiply_adds);
}

TEST(Describe, K12TableWithTotals) {
  const std::string text = describe(lenet(2));
  for (const char* part : {"multiply–adds", "conv2      convolution", "2×16×10×10", "833,040",
                           "61,706 trainable parameters, 0 fixed", "batch of 2: W/D = "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Describe, FixedParametersAreCountedApart) {
  const Net net = build_net(models().find("lenet5"), {},
                            {.fields = input_and_labels({1, 28, 28}), .classes = 10});
  EXPECT_NE(describe(net).find("60,000 trainable parameters, 840 fixed"), std::string::npos);
}

}  // namespace
}  // namespace tutti
