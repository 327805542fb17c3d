// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/close_step.h"

#include "tutti/exchange/blocks.h"
#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/allreduce_block.h"
#include "tutti/ops/cast.h"
#include "tutti/ops/gradient_norm.h"
#include "tutti/ops/join.h"
#include "tutti/ops/reduce_scatter.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/square_sum.h"
#include "tutti/ops/update.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/autodiff.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

class CloseStep : public ::testing::Test {
 protected:
  Net net_with(int ranks) {
    const List<Model> all = models();
    Net net = build_net(all.find("mlp"), {},
                        {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 4});
    differentiate(net.graph, net.loss, net.table, net.parameters);
    if (ranks > 1) partition_samples(net.graph, 4, 4 / ranks);
    return net;
  }
  StepClosing closing(int ranks, double clip_norm = 0) {
    const Rule& momentum = rules_.find("momentum");
    return {.update = {.rule = &momentum,
                       .rule_settings = resolve(momentum.settings, {}, "test"),
                       .clip_norm = clip_norm},
            .ranks = ranks};
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
  close_step(net.graph, net.table, DType::f32, closing(1), 16);
  verify(net.graph, "exchange");
  EXPECT_EQ(count(net.graph, ops::allreduce_block), 0);
  EXPECT_GE(covered(net.graph, ops::update), net.table.parameters(true));
}

TEST_F(CloseStep, PartialRangesAreReducedRightBehindTheNodeThatFillsThem) {
  Net net = net_with(2);
  close_step(net.graph, net.table, DType::f32, closing(2), 16);
  verify(net.graph, "exchange");
  EXPECT_GE(covered(net.graph, ops::allreduce_block), net.table.parameters(true));
  for (std::size_t i = 0; i < net.graph.nodes.size(); ++i) {
    const Node& node = net.graph.nodes[i];
    if (node.op != &ops::allreduce_block) continue;
    NodeId filled = no_node;
    for (ValueId id : node.inputs) filled = std::max(filled, net.graph.value(id).producer);
    // Only other sums of blocks, filled by the same node, may stand between.
    for (auto k = static_cast<std::size_t>(filled) + 1; k < i; ++k)
      EXPECT_EQ(net.graph.nodes[k].op, &ops::allreduce_block);
  }
  // The last layer's gradient travels before the first layer's has been made.
  const auto first =
      std::find_if(net.graph.nodes.begin(), net.graph.nodes.end(),
                   [](const Node& node) { return node.op == &ops::allreduce_block; });
  EXPECT_LT(first - net.graph.nodes.begin(),
            static_cast<std::ptrdiff_t>(net.graph.nodes.size()) - 8);
}

TEST_F(CloseStep, SmallNeighboursShareABlockLargeOnesDoNot) {
  Net net = net_with(2);
  StepClosing small = closing(2);
  small.scheme.block_bytes = 1;
  close_step(net.graph, net.table, DType::f32, small, 16);
  EXPECT_EQ(count(net.graph, ops::allreduce_block), 6);  // three layers, weight and bias
  Net merged = net_with(2);
  StepClosing large = closing(2);
  large.scheme.block_bytes = 1 << 30;
  close_step(merged.graph, merged.table, DType::f32, large, 16);
  EXPECT_EQ(count(merged.graph, ops::allreduce_block), 1);
}

TEST_F(CloseStep, WeightDecaySplitsWeightsFromBiases) {
  Net net = net_with(1);
  StepClosing decaying = closing(1);
  decaying.update.weight_decay = 0.1;
  decaying.scheme.block_bytes = 1 << 30;
  close_step(net.graph, net.table, DType::f32, decaying, 16);
  for (const Node& node : net.graph.nodes)
    if (node.op == &ops::update) {
      const std::int64_t size = elements(net.graph.shape(node.inputs[0]));
      EXPECT_EQ(node.settings.real("weight_decay"), size <= 1024 ? 0 : 0.1) << size;
    }
}

TEST_F(CloseStep, RulesWithATrustRatioMeasureEachWeightAlone) {
  for (const char* name : {"lars", "lamb"}) {
    Net net = net_with(1);
    StepClosing measuring = closing(1);
    measuring.update.rule = &rules_.find(name);
    measuring.update.rule_settings = resolve(measuring.update.rule->settings, {}, "test");
    measuring.scheme.block_bytes = 1 << 30;
    close_step(net.graph, net.table, DType::f32, measuring, 16);
    verify(net.graph, "exchange");
    int measured = 0;
    for (const Node& node : net.graph.nodes) {
      if (node.op != &ops::update) continue;
      const bool weight = elements(net.graph.shape(node.inputs[0])) > 1024;
      EXPECT_EQ(node.settings.flag("measured"), weight);  // biases have no ratio
      measured += weight ? 1 : 0;
    }
    EXPECT_EQ(measured, 3);
    EXPECT_EQ(count(net.graph, ops::measure), 3);
  }
}

TEST_F(CloseStep, ANormBoundIsABarrierBeforeEveryUpdate) {
  Net net = net_with(2);
  close_step(net.graph, net.table, DType::f32, closing(2, /*clip_norm=*/1), 16);
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

TEST_F(CloseStep, ShardedEachRankUpdatesItsPartOfEveryBlock) {
  std::int64_t updated = 0, rounding = 0;
  for (int rank = 0; rank < 2; ++rank) {
    Net net = net_with(2);
    StepClosing sharded = closing(2);
    sharded.scheme.store = stores().find("sharded");
    sharded.rank = rank;
    close_step(net.graph, net.table, DType::f32, sharded, 16);
    verify(net.graph, "exchange");
    const int blocks = count(net.graph, ops::update);
    EXPECT_EQ(count(net.graph, ops::reduce_scatter), blocks);
    EXPECT_EQ(count(net.graph, ops::allgather), blocks);
    EXPECT_EQ(count(net.graph, ops::allreduce_block), 1) << "the sums of squares";
    EXPECT_GE(covered(net.graph, ops::allgather), net.table.parameters(true));
    EXPECT_EQ(covered(net.graph, ops::allgather), covered(net.graph, ops::join));
    updated += covered(net.graph, ops::update);
    rounding = covered(net.graph, ops::join);
    EXPECT_EQ(square_sums_of(net.table, DType::f32, sharded), blocks);
  }
  EXPECT_EQ(updated, rounding) << "every element once";
}

TEST_F(CloseStep, ShardedBlocksTravelRightBehindTheNodeThatFillsThem) {
  Net net = net_with(2);
  StepClosing sharded = closing(2);
  sharded.scheme.store = stores().find("sharded");
  close_step(net.graph, net.table, DType::f32, sharded, 16);
  const auto& nodes = net.graph.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == &ops::update) {
      EXPECT_EQ(nodes[i + 1].op, &ops::allgather);
      const NodeId sums = net.graph.value(nodes[i].inputs[0]).producer;
      EXPECT_EQ(nodes[static_cast<std::size_t>(sums)].op, &ops::reduce_scatter);
    }
    if (nodes[i].op != &ops::reduce_scatter) continue;
    const Node& join =
        nodes[static_cast<std::size_t>(net.graph.value(nodes[i].inputs[0]).producer)];
    NodeId filled = no_node;
    for (ValueId id : join.inputs) filled = std::max(filled, net.graph.value(id).producer);
    for (auto k = static_cast<std::size_t>(filled) + 1; k < i; ++k)
      EXPECT_TRUE(nodes[k].op == &ops::join || nodes[k].op == &ops::reduce_scatter);
  }
}

TEST_F(CloseStep, LargeRangesAreCutWhereRanksOwnParts) {
  Net net = net_with(2);
  StepClosing sharded = closing(2);
  sharded.scheme.store = stores().find("sharded");
  sharded.scheme.block_bytes = 256 * 1024;
  close_step(net.graph, net.table, DType::f32, sharded, 16);
  verify(net.graph, "exchange");
  for (const Node& node : net.graph.nodes)
    if (node.op == &ops::allgather) {
      EXPECT_LE(elements(net.graph.shape(node.outputs[0])), 64 * 1024);
    }
}

TEST_F(CloseStep, TheSmallestBlockIsALine) {
  RangeTable table;
  table.add("w", {5, 20});
  StepClosing sharded = closing(2);
  sharded.scheme.store = stores().find("sharded");
  for (const std::int64_t bytes : {0, 1, 64}) {
    sharded.scheme.block_bytes = bytes;
    EXPECT_EQ(square_sums_of(table, DType::f32, sharded), 7) << bytes;
  }
}

TEST_F(CloseStep, ANormOverPartsIsSummedOverRanks) {
  for (const bool shard : {false, true}) {
    Net net = net_with(2);
    StepClosing clipped = closing(2, /*clip_norm=*/1);
    clipped.scheme.store = stores().find(shard ? "sharded" : "all");
    clipped.rank = 1;
    const int before = count(net.graph, ops::allreduce);
    close_step(net.graph, net.table, DType::f32, clipped, 16);
    verify(net.graph, "exchange");
    EXPECT_EQ(count(net.graph, ops::allreduce), before + 1);
    ASSERT_EQ(count(net.graph, ops::square_sum), 1);
    std::int64_t squares = 0;
    for (const Node& node : net.graph.nodes)
      if (node.op == &ops::square_sum)
        for (const std::int64_t part : node.settings.integers("counts")) squares += part;
    StepClosing owning = clipped;
    owning.scheme.store = stores().find("sharded");
    std::int64_t own = 0;
    for (const VectorPart& part : state_layout(net.table, DType::f32, owning).parts)
      own += part.count;
    EXPECT_EQ(squares, own);
  }
}

// cast – sum in bf16 – cast, the last one in front of the update that needs it.
TEST_F(CloseStep, RoundedBlocksTravelInBf16) {
  for (const bool shard : {false, true}) {
    Net net = net_with(2);
    StepClosing rounded = closing(2);
    rounded.scheme.store = stores().find(shard ? "sharded" : "all");
    rounded.scheme.codec = codecs().find("bf16");
    close_step(net.graph, net.table, DType::f32, rounded, 16);
    verify(net.graph, "exchange");
    const auto producer = [&](ValueId id) { return net.graph.value(id).producer; };
    const auto& nodes = net.graph.nodes;
    int updates = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op != &ops::update) continue;
      ++updates;
      const NodeId widens = producer(nodes[i].inputs[0]);
      EXPECT_EQ(widens, static_cast<NodeId>(i) - 1);
      EXPECT_EQ(nodes[widens].op, &ops::cast);
      const ValueId sum = nodes[widens].inputs[0];
      EXPECT_EQ(net.graph.type(sum).dtype, DType::bf16);
      EXPECT_EQ(net.graph.value(sum).place.base, Base::encoded);
      EXPECT_EQ(nodes[producer(sum)].op, shard ? &ops::reduce_scatter : &ops::allreduce);
      const NodeId rounds = producer(nodes[producer(sum)].inputs[0]);
      EXPECT_EQ(rounds, producer(sum) - 1);
      EXPECT_EQ(nodes[rounds].op, &ops::cast);
      EXPECT_EQ(nodes[producer(nodes[rounds].inputs[0])].op, &ops::join);
    }
    EXPECT_GT(updates, 0);
    EXPECT_EQ(count(net.graph, ops::cast), 2 * updates);
  }
}

TEST_F(CloseStep, RoundedPartsTravelInTheArenaWhereNoMoreIsKept) {
  Net net = net_with(2);
  StepClosing rounded = closing(2);
  rounded.scheme.store = stores().find("sharded_weights");
  rounded.scheme.codec = codecs().find("bf16");
  close_step(net.graph, net.table, DType::f32, rounded, 16);
  verify(net.graph, "exchange");
  for (const Node& node : net.graph.nodes) {
    if (node.op == &ops::reduce_scatter) {
      EXPECT_EQ(net.graph.type(node.outputs[0]).dtype, DType::bf16);
    }
    for (const ValueId id : node.outputs) EXPECT_NE(net.graph.value(id).place.base, Base::encoded);
  }
  EXPECT_EQ(count(net.graph, ops::cast), 2 * count(net.graph, ops::update));
}

TEST_F(CloseStep, ARankAloneRoundsNothing) {
  Net net = net_with(1);
  StepClosing rounded = closing(1);
  rounded.scheme.codec = codecs().find("bf16");
  close_step(net.graph, net.table, DType::f32, rounded, 16);
  EXPECT_EQ(count(net.graph, ops::cast), 0);
}

// So that its bits are those of a sharded one, which travels.
TEST_F(CloseStep, ACompleteGradientIsRoundedTooButNotSent) {
  Net net = net_with(2);
  net.graph.partial.pop_back();
  StepClosing rounded = closing(2);
  rounded.scheme.codec = codecs().find("bf16");
  rounded.scheme.block_bytes = 1;
  const int before = count(net.graph, ops::allreduce);
  close_step(net.graph, net.table, DType::f32, rounded, 16);
  verify(net.graph, "exchange");
  EXPECT_EQ(count(net.graph, ops::cast), 12);  // three layers, weight and bias
  EXPECT_EQ(count(net.graph, ops::allreduce), before + 5);
}

// Made of sums over ranks, as behind a synchronised normalisation.
TEST_F(CloseStep, ACompleteGradientCountsOnOneRank) {
  for (const int rank : {0, 1}) {
    Net net = net_with(2);
    net.graph.partial.pop_back();
    const int before = count(net.graph, ops::scale);
    StepClosing sharded = closing(2);
    sharded.scheme.store = stores().find("sharded");
    sharded.rank = rank;
    close_step(net.graph, net.table, DType::f32, sharded, 16);
    verify(net.graph, "exchange");
    EXPECT_EQ(count(net.graph, ops::scale), before + 1);
    for (const Node& node : net.graph.nodes) {
      if (node.op != &ops::scale) continue;
      EXPECT_EQ(node.settings.real("factor"), rank == 0 ? 1.0 : 0.0);
    }
  }
}

TEST_F(CloseStep, ARankKeepsItsPartOfTheState) {
  const Net net = net_with(1);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::vector<int> owners(static_cast<std::size_t>(net.table.count()), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      StepClosing sharded = closing(ranks);
      sharded.scheme.store = stores().find("sharded");
      sharded.rank = rank;
      const VectorLayout layout = state_layout(net.table, DType::f32, sharded);
      std::int64_t end = 0;
      for (const VectorPart& part : layout.parts) {
        EXPECT_GE(part.held_offset, end) << "parts don't overlap";
        end = part.held_offset + part.count;
        for (std::int64_t i = 0; i < part.count; ++i)
          ++owners[static_cast<std::size_t>(part.offset + i)];
      }
      EXPECT_EQ(layout.count, end);
      // A line for each block more, at most.
      EXPECT_LE(layout.count, net.table.count() / ranks +
                                  16 * static_cast<std::int64_t>(layout.parts.size() + 1));
    }
    for (const Range& range : net.table.ranges)
      for (std::int64_t i = range.offset; i < range.end(); ++i)
        ASSERT_EQ(owners[static_cast<std::size_t>(i)], 1) << ranks << " ranks, element " << i;
  }
}

}  // namespace
}  // namespace tutti
