// SPDX-License-Identifier: Apache-2.0
// B26, B27, P12: what is computed again, and that the gradients stay the same bit for bit.
#include "tutti/passes/recompute.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/kernels/backends.h"
#include "tutti/nn/net.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/dropout.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/tanh.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/memory.h"
#include "tutti/passes/recompute_choices.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::int64_t width = 1000;

// x ─► tanh ─► … ─► tanh, and the gradient in x.
struct Chain {
  Graph graph;
  ValueId x, gradient;
  int forward_nodes;
};

Chain chain(int layers, const Op& op = ops::tanh) {
  Chain made;
  Graph& graph = made.graph;
  made.x = graph.add_value("x", {DType::f64, {width}}, {Base::inputs, 0});
  graph.batch = {made.x};
  ValueId y = made.x;
  for (int i = 0; i < layers; ++i) y = graph.add1(op, {y});
  made.forward_nodes = layers;
  const ValueId seed =
      graph.add1(ops::constant, {}, {{"shape", Shape{width}}, {"value", 1.0}, {"dtype", "f64"}});
  made.gradient = gradients(graph, {y}, {seed}, {made.x})[0];
  graph.outputs = {made.gradient};
  return made;
}

double evaluate_one(const Chain& made, std::int64_t i) {
  contract::Values values;
  values.insert_or_assign(made.x, contract::random_array(made.graph.type(made.x), 5));
  return contract::evaluate(made.graph, values).at(made.gradient).get(i);
}

int forward_operations(const Graph& graph) {
  int forward = 0;
  for (const Node& node : graph.nodes) forward += node.op == &ops::tanh;
  return forward;
}

TEST(Recompute, B27RootOfAHundredLayers) {
  Chain made = chain(100);
  const double before = evaluate_one(made, 3);
  const std::vector<Cell> cells = cells_of(made.graph, made.forward_nodes, usual_seconds);
  EXPECT_EQ(cells.size(), 100u);
  recompute(made.graph, cells, recompute_root(cells));
  verify(made.graph, "recompute");
  EXPECT_LE(forward_operations(made.graph), 200);
  const KernelTable table = reference_kernels();
  const MemoryPlan plan = plan_memory(made.graph, backend_of(table));
  EXPECT_LE(static_cast<double>(plan.live_bytes) / (width * 8.0), 21.01);
  EXPECT_EQ(evaluate_one(made, 3), before);
}

TEST(Recompute, B26SlotsOfAHundredLayers) {
  const double before = evaluate_one(chain(100), 3);
  const KernelTable table = reference_kernels();
  for (int slots : {1, 2, 3, 5, 10, 99}) {
    Chain made = chain(100);
    const std::vector<Cell> cells = cells_of(made.graph, made.forward_nodes, usual_seconds);
    recompute(made.graph, cells, recompute_slots(cells, slots));
    verify(made.graph, "recompute");
    EXPECT_EQ(forward_operations(made.graph), forward_steps(100, slots, Slot::cell)) << slots;
    // Besides the slots: a cell at work and the gradients before and behind it.
    const MemoryPlan plan = plan_memory(made.graph, backend_of(table));
    EXPECT_LE(static_cast<double>(plan.live_bytes) / (width * 8.0), slots + 3.01) << slots;
    EXPECT_EQ(evaluate_one(made, 3), before) << slots;
  }
}

TEST(Recompute, WhatKeepsNothingIsNoCell) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {width}}, {Base::inputs, 0});
  graph.batch = {x};
  ValueId y = x;
  for (int i = 0; i < 4; ++i) y = graph.add1(ops::tanh, {graph.add1(ops::scale, {y})});
  const int forward_nodes = static_cast<int>(graph.nodes.size());
  const ValueId seed =
      graph.add1(ops::constant, {}, {{"shape", Shape{width}}, {"value", 1.0}, {"dtype", "f64"}});
  graph.outputs = gradients(graph, {y}, {seed}, {x});
  EXPECT_EQ(cells_of(graph, forward_nodes, usual_seconds).size(), 4u) << "tanh alone is read again";
}

TEST(Recompute, EveryKCellsAndNone) {
  Chain made = chain(12);
  const std::vector<Cell> cells = cells_of(made.graph, made.forward_nodes, usual_seconds);
  EXPECT_EQ(recompute_every(cells, 4).runs, (std::vector<Recomputed>{{0, 4}, {4, 8}}));
  const std::size_t nodes = made.graph.nodes.size();
  recompute(made.graph, cells, {});
  EXPECT_EQ(made.graph.nodes.size(), nodes);
}

// The estimate is what the memory planner finds, but for the gradients before and behind the cell
// at work.
TEST(Recompute, P12TheFrontierTakesTheMemoryThatItEstimates) {
  const KernelTable table = reference_kernels();
  const Chain original = chain(30);
  const std::vector<Cell> cells = cells_of(original.graph, original.forward_nodes, usual_seconds);
  const std::vector<RecomputePlan> plans = recompute_frontier(cells);
  EXPECT_GT(plans.size(), 10u);
  for (const RecomputePlan& plan : plans) {
    Chain made = original;
    recompute(made.graph, cells, plan);
    const auto live = static_cast<double>(plan_memory(made.graph, backend_of(table)).live_bytes);
    EXPECT_LE(live / (width * 8.0),
              static_cast<double>(estimated_bytes(cells, plan)) / (width * 8.0) + 2.01);
  }
}

TEST(Recompute, MasksAreDrawnAgainTheSame) {
  Chain made = chain(9, ops::dropout);
  const double before = evaluate_one(made, 7);
  const std::vector<Cell> cells = cells_of(made.graph, made.forward_nodes, usual_seconds);
  for (const RecomputePlan& plan : {recompute_every(cells, 3), recompute_slots(cells, 2)}) {
    Chain again = made;
    recompute(again.graph, cells, plan);
    EXPECT_EQ(evaluate_one(again, 7), before);
  }
}

TEST(Recompute, GradientsOfNetworksStayBitForBit) {
  for (const char* model : {"lenet", "resnet20"}) {
    const List<Model> all = models();
    const Shape sample = std::string(model) == "lenet" ? Shape{1, 14, 14} : Shape{3, 8, 8};
    Net net = build_net(
        all.find(model), {},
        {.fields = input_and_labels(sample), .classes = 4, .batch = 2, .dtype = DType::f64});
    const int forward_nodes = static_cast<int>(net.graph.nodes.size());
    differentiate(net.graph, net.loss, net.table, net.parameters);
    const std::vector<Cell> cells = cells_of(net.graph, forward_nodes, usual_seconds);
    EXPECT_GT(cells.size(), 5u) << model;
    const contract::Values values = test::first_values(net);
    const contract::Values expected = contract::evaluate(net.graph, values);
    for (const RecomputePlan& plan : {recompute_root(cells), recompute_slots(cells, 2)}) {
      Graph again = net.graph;
      recompute(again, cells, plan);
      verify(again, "recompute");
      EXPECT_GT(again.nodes.size(), net.graph.nodes.size()) << model;
      const contract::Values found = contract::evaluate(again, values);
      for (std::size_t id = 0; id < net.graph.values.size(); ++id) {
        if (net.graph.values[id].place.base != Base::gradients) continue;
        const auto value = static_cast<ValueId>(id);
        EXPECT_EQ(contract::difference(found.at(value), expected.at(value)), 0)
            << net.graph.values[id].name;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
