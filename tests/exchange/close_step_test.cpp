// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/close_step.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/range.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/autodiff.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

class CloseStep : public ::testing::Test {
 protected:
  Net net_with(int ranks) {
    const List<Model> all = models();
    Net net =
        build_net(all.find("mlp"), {}, {.sample_shape = {1, 28, 28}, .classes = 10, .batch = 4});
    differentiate(net.graph, net.loss, net.table, net.parameters);
    if (ranks > 1) partition_samples(net.graph, 4, 4 / ranks, "data");
    return net;
  }
  StepClosing closing(double clip_norm = 0) {
    const Rule& momentum = rules_.find("momentum");
    return {.rule = &momentum,
            .rule_settings = resolve(momentum.settings, {}, "test"),
            .clip_norm = clip_norm};
  }
  static int count(const Graph& graph, const Op& op) {
    return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                          [&](const Node& node) { return node.op == &op; }));
  }
  // Elements that `op` nodes cover.
  static std::int64_t covered(const Graph& graph, const Op& op) {
    std::int64_t total = 0;
    for (const Node& node : graph.nodes)
      if (node.op == &op) total += elements(graph.shape(node.outputs[0]));
    return total;
  }

  List<Rule> rules_ = rules();
};

TEST_F(CloseStep, OneRankHasNoMessagesAndUpdatesEverything) {
  Net net = net_with(1);
  close_step(net.graph, net.table, DType::f32, closing(), 16);
  verify(net.graph, "exchange");
  EXPECT_EQ(count(net.graph, ops::reduce), 0);
  EXPECT_GE(covered(net.graph, ops::update), net.table.parameters(true));
}

TEST_F(CloseStep, PartialRangesAreReducedRightBehindTheNodeThatFillsThem) {
  Net net = net_with(2);
  close_step(net.graph, net.table, DType::f32, closing(), 16);
  verify(net.graph, "exchange");
  EXPECT_GE(covered(net.graph, ops::reduce), net.table.parameters(true));
  for (std::size_t i = 0; i < net.graph.nodes.size(); ++i) {
    const Node& node = net.graph.nodes[i];
    if (node.op != &ops::reduce) continue;
    NodeId filled = no_node;
    for (ValueId id : node.inputs) filled = std::max(filled, net.graph.value(id).producer);
    // Only other reduces, filled by the same node, may stand between.
    for (auto k = static_cast<std::size_t>(filled) + 1; k < i; ++k)
      EXPECT_EQ(net.graph.nodes[k].op, &ops::reduce);
  }
  // The last layer's gradient travels before the first layer's has been made.
  const auto first = std::find_if(net.graph.nodes.begin(), net.graph.nodes.end(),
                                  [](const Node& node) { return node.op == &ops::reduce; });
  EXPECT_LT(first - net.graph.nodes.begin(),
            static_cast<std::ptrdiff_t>(net.graph.nodes.size()) - 8);
}

TEST_F(CloseStep, SmallNeighboursShareABlockLargeOnesDoNot) {
  Net net = net_with(2);
  StepClosing small = closing();
  small.block_bytes = 1;
  close_step(net.graph, net.table, DType::f32, small, 16);
  EXPECT_EQ(count(net.graph, ops::reduce), 6);  // three layers, weight and bias
  Net merged = net_with(2);
  StepClosing large = closing();
  large.block_bytes = 1 << 30;
  close_step(merged.graph, merged.table, DType::f32, large, 16);
  EXPECT_EQ(count(merged.graph, ops::reduce), 1);
}

TEST_F(CloseStep, WeightDecaySplitsWeightsFromBiases) {
  Net net = net_with(1);
  StepClosing decaying = closing();
  decaying.weight_decay = 0.1;
  decaying.block_bytes = 1 << 30;
  close_step(net.graph, net.table, DType::f32, decaying, 16);
  for (const Node& node : net.graph.nodes)
    if (node.op == &ops::update) {
      const std::int64_t size = elements(net.graph.shape(node.inputs[0]));
      EXPECT_EQ(node.settings.real("weight_decay"), size <= 1024 ? 0 : 0.1) << size;
    }
}

TEST_F(CloseStep, ANormBoundIsABarrierBeforeEveryUpdate) {
  Net net = net_with(2);
  close_step(net.graph, net.table, DType::f32, closing(/*clip_norm=*/1), 16);
  verify(net.graph, "exchange");
  ASSERT_EQ(count(net.graph, ops::gradient_norm), 1);
  bool seen = false;
  for (const Node& node : net.graph.nodes) {
    if (node.op == &ops::gradient_norm) seen = true;
    if (node.op == &ops::update) {
      EXPECT_TRUE(seen);
    }
  }
}

}  // namespace
}  // namespace tutti
