// SPDX-License-Identifier: Apache-2.0
// The plan against its definition, node by node and pair by pair.
#include "tutti/exec/late_updates.h"

#include "tutti/comm/sim/planned_rank.h"
#include "tutti/graph/op.h"

#include "exec/training.h"

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

TEST(LateUpdates, WaitForAllThatTouchesTheSameMemory) {
  for (const bool shard : {false, true})
    for (const std::string model : {"mlp", "lenet"}) {
      const auto rank = sim::planned_rank(0, 4, LinkCost{1e-5, 1e-9, 1e-10});
      test::Training training({.model = model, .shard = shard}, rank.get());
      const Program& program = training.program();
      const Graph& graph = program.graph();
      const LateUpdates& late = program.late_updates();
      ASSERT_TRUE(late.possible);
      const int nodes = program.size(), first = program.first_update();
      const auto conflict = [&](int a, int b) {
        return disturbs(graph, a, b) || disturbs(graph, b, a);
      };
      std::vector<std::vector<NodeId>> over(late.over.size()), results(late.results.size());
      for (int message = 0; message < nodes; ++message)
        for (int node = 0; node < message && program.is_message(message); ++node) {
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

}  // namespace
}  // namespace tutti
