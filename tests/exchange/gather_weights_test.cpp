// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/stores/gather_weights.h"

#include "tutti/exchange/blocks.h"
#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/join.h"
#include "tutti/ops/update.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tutti {
namespace {

class GatherWeights : public ::testing::Test {
 protected:
  StepClosing closing(std::int64_t block_bytes = 1) {
    const Rule& sgd = rules_.find("sgd");
    StepClosing made{.update = {.rule = &sgd, .rule_settings = resolve(sgd.settings, {}, "test")},
                     .ranks = 2};
    made.scheme.store = stores().find("sharded_weights");
    made.scheme.block_bytes = block_bytes;
    return made;
  }

  // Five linear layers.
  Net net(bool training) {
    const List<Model> all = models();
    Net made = build_net(
        all.find("mlp"), {{"hidden", Shape{8, 8, 8, 8}}},
        {.fields = input_and_labels({8}), .classes = 8, .batch = 4, .training = training});
    if (training) differentiate(made.graph, made.loss, made.table, made.parameters);
    partition_samples(made.graph, 4, 2);
    remove_dead_code(made.graph);
    return made;
  }

  static std::vector<std::size_t> positions(const Graph& graph, const Op& op,
                                            const std::string& name) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].op == &op && graph.nodes[i].name == name) found.push_back(i);
    return found;
  }

  List<Rule> rules_ = rules();
};

TEST_F(GatherWeights, NobodyReadsWeightsButTheirOwnParts) {
  for (const bool training : {false, true}) {
    Net made = net(training);
    gather_weights(made.graph, made.table, DType::f32, closing(), "data");
    verify(made.graph, "gather");
    for (const Node& node : made.graph.nodes)
      for (const ValueId id : node.inputs)
        if (id != no_value && made.graph.value(id).place.base == Base::weights) {
          EXPECT_EQ(node.op, &ops::allgather);
        }
  }
}

TEST_F(GatherWeights, BlocksAreGatheredForTheForwardAndForTheBackwardPass) {
  Net made = net(true);
  gather_weights(made.graph, made.table, DType::f32, closing(), "data");
  // A block of 64 elements is cut into lines of 16; the backward pass reads no bias, nor the weight
  // of the first layer, and the last weight is still there.
  const std::map<std::string, std::size_t> expected = {
      {"fc1.weight", 1}, {"fc2.weight", 2}, {"fc4.weight", 2}, {"fc5.weight", 1}, {"fc3.bias", 1}};
  for (const auto& [name, times] : expected)
    EXPECT_EQ(positions(made.graph, ops::join, name).size(), times) << name;
  EXPECT_EQ(positions(made.graph, ops::allgather, "fc2.weight").size(), 8u);
  Net evaluated = net(false);
  gather_weights(evaluated.graph, evaluated.table, DType::f32, closing(), "data");
  EXPECT_EQ(positions(evaluated.graph, ops::join, "fc2.weight").size(), 1u);
}

TEST_F(GatherWeights, TheNextBlockTravelsWhileTheOneBeforeIsUsed) {
  Net made = net(true);
  gather_weights(made.graph, made.table, DType::f32, closing(), "data");
  std::vector<std::size_t> begins, joins;
  for (std::size_t i = 0; i < made.graph.nodes.size(); ++i) {
    if (made.graph.nodes[i].op != &ops::join) continue;
    joins.push_back(i);
    begins.push_back(
        static_cast<std::size_t>(made.graph.value(made.graph.nodes[i].inputs[0]).producer));
  }
  ASSERT_GT(joins.size(), 10u);
  EXPECT_EQ(begins[0], 0u);
  for (std::size_t k = 1; k < joins.size(); ++k) {
    EXPECT_LT(begins[k], joins[k - 1]) << "begun before the one before is waited for";
    if (k > 1) {
      EXPECT_GT(begins[k], joins[k - 2]) << "not earlier: memory holds it from there on";
    }
  }
}

TEST_F(GatherWeights, NeighboursAreGatheredTogether) {
  Net made = net(true);
  gather_weights(made.graph, made.table, DType::f32, closing(1 << 20), "data");
  verify(made.graph, "gather");
  EXPECT_EQ(std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                          [](const Node& node) { return node.op == &ops::allgather; }),
            1);
}

TEST_F(GatherWeights, TheStepIsClosedOnOwnParts) {
  for (const std::int64_t block_bytes : {1, 300, 1 << 20}) {
    Net made = net(true);
    const StepClosing step = closing(block_bytes);
    gather_weights(made.graph, made.table, DType::f32, step, "data");
    close_step(made.graph, made.table, DType::f32, step, 16);
    verify(made.graph, "exchange");
    const VectorLayout layout = state_layout(made.table, DType::f32, step);
    std::size_t updates = 0;
    for (const Node& node : made.graph.nodes) {
      for (const ValueId id : node.outputs) {
        const Value& value = made.graph.value(id);
        if (value.place.base == Base::weights || value.place.base == Base::gradients) {
          EXPECT_LE(value.place.offset_bytes + value.bytes(), layout.count * 4);
        }
      }
      updates += node.op == &ops::update ? 1 : 0;
    }
    EXPECT_EQ(updates, layout.parts.size());
  }
}

TEST_F(GatherWeights, WhatIsNotTrainedStaysWhole) {
  RangeTable table;
  table.add("frozen", {5});
  table.ranges[0].trainable = false;
  table.add("w", {64});
  const VectorLayout layout = weight_layout(table, DType::f32, closing());
  ASSERT_EQ(layout.parts.size(), 5u) << "four lines of w, of which this rank has some";
  EXPECT_EQ(layout.parts.back().offset, 0);
  EXPECT_EQ(layout.parts.back().count, 5);
  EXPECT_EQ(layout.count, layout.parts.back().held_offset + 5);
}

}  // namespace
}  // namespace tutti
