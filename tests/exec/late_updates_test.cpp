// SPDX-License-Identifier: Apache-2.0
// The plan against its definition, node by node and pair by pair.
#include "tutti/exec/late_updates.h"

#include "tutti/compile/compile_step.h"
#include "tutti/graph/op.h"
#include "tutti/parallel/partition.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Whether node a writes where b reads or writes, outside the arena.
bool disturbs(const Graph& graph, int a, int b) {
  const Node &writer = graph.nodes[static_cast<std::size_t>(a)],
             &other = graph.nodes[static_cast<std::size_t>(b)];
  if (writer.op->view || other.op->view) return false;
  for (const ValueId made : writer.outputs)
    for (const auto* values : {&other.inputs, &other.outputs})
      for (const ValueId id : *values) {
        if (id == no_value) continue;
        const Value &x = graph.value(made), &y = graph.value(id);
        if (x.place.base == y.place.base && x.place.base != Base::arena &&
            x.place.offset_bytes < y.place.offset_bytes + y.bytes() &&
            y.place.offset_bytes < x.place.offset_bytes + x.bytes())
          return true;
      }
  return false;
}

// Of one of four ranks on nodes of their own.
CompiledStep step_of(const std::string& model, bool shard) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  StepSpec spec;
  spec.build = [&](const NetInput& input) {
    return build_net(all_models.find(model), Settings(), input);
  };
  spec.input = {.fields = input_and_labels({1, 28, 28}), .classes = 10};
  spec.closing.update.rule = &all_rules.find("momentum");
  spec.closing.update.rule_settings = resolve(spec.closing.update.rule->settings, {}, "momentum");
  spec.closing.scheme.store = stores().find(shard ? "sharded" : "all");
  spec.mesh = data_mesh(4);
  spec.facts = {.size = 4, .network = LinkCost{1e-5, 1e-9, 1e-10}};
  return StepCompiler(spec).compile({true, 8, 2}).step;
}

TEST(LateUpdates, WaitForAllThatTouchesTheSameMemory) {
  for (const bool shard : {false, true})
    for (const std::string model : {"mlp", "lenet"}) {
      const CompiledStep step = step_of(model, shard);
      const Graph& graph = step.graph;
      const LateUpdates late = plan_late_updates(graph, step.memory, step.first_update,
                                                 [](const Node& node) { return is_message(node); });
      EXPECT_TRUE(step.instructions.may_postpone());
      ASSERT_TRUE(late.possible);
      const int nodes = step.size(), first = step.first_update;
      const auto conflict = [&](int a, int b) {
        return disturbs(graph, a, b) || disturbs(graph, b, a);
      };
      std::vector<std::vector<NodeId>> over(late.over.size()), results(late.results.size());
      for (int message = 0; message < nodes; ++message)
        for (int node = 0; node < message && step.is_message(message); ++node) {
          if (disturbs(graph, node, message))
            over[static_cast<std::size_t>(node)].push_back(message);
          else if (message >= first && node < first && conflict(node, message))
            results[static_cast<std::size_t>(node)].push_back(message);
        }
      EXPECT_EQ(late.over, over);
      EXPECT_EQ(late.results, results);
      for (int node = 0; node < first; ++node)
        for (const NodeId update : late.before[static_cast<std::size_t>(node)])
          for (int earlier = 0; earlier < node; ++earlier)
            EXPECT_FALSE(conflict(earlier, update)) << earlier << " " << update;
      for (int update = first; update < nodes; ++update)
        for (int node = late.from[static_cast<std::size_t>(update)]; node < first; ++node)
          EXPECT_FALSE(conflict(node, update)) << node << " " << update;
    }
}

// The next run has another batch there.
TEST(LateUpdates, AreNotPossibleWhereTheyReadTheBatch) {
  CompiledStep step = step_of("mlp", false);
  Graph& graph = step.graph;
  const auto possible = [&] {
    return plan_late_updates(graph, step.memory, step.first_update,
                             [](const Node& node) { return is_message(node); })
        .possible;
  };
  ASSERT_TRUE(possible());
  graph.value(graph.nodes.back().inputs[0]).place = {Base::inputs, 0};
  EXPECT_FALSE(possible());
}

}  // namespace
}  // namespace tutti
