// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/memory.h"

#include "tutti/core/rng.h"
#include "tutti/graph/op.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/add.h"
#include "tutti/ops/join.h"
#include "tutti/ops/reduce_scatter.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/reshape.h"
#include "tutti/ops/section.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

class Memory : public ::testing::Test {
 protected:
  KernelTable table_ = cpu_kernels();
  Backend backend_ = backend_of(table_);

  static std::int64_t offset(const Graph& graph, ValueId id) {
    return graph.value(id).place.offset_bytes;
  }
};

TEST_F(Memory, AChainRunsInPlace) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {1000}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x}), b = graph.add1(ops::relu, {a});
  graph.outputs = {graph.add1(ops::relu, {b})};
  const MemoryPlan plan = plan_memory(graph, backend_);
  EXPECT_EQ(plan.arena_bytes, 4032);  // 4,000 bytes in whole cache lines
  EXPECT_EQ(offset(graph, a), offset(graph, b));
}

TEST_F(Memory, AnInputStillNeededIsNotOverwritten) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {16}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x}), b = graph.add1(ops::relu, {a});
  graph.outputs = {graph.add1(ops::add, {a, b})};
  plan_memory(graph, backend_);
  EXPECT_NE(offset(graph, a), offset(graph, b));
}

TEST_F(Memory, AViewKeepsItsSourceAlive) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4, 4}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x});
  const ValueId view = graph.add1(ops::reshape, {a}, {{"shape", Shape{16}}});
  const ValueId b = graph.add1(ops::relu, {a});  // must not run over a: view is read later
  const ValueId flat = graph.add1(ops::reshape, {b}, {{"shape", Shape{16}}});
  graph.outputs = {graph.add1(ops::add, {view, flat})};
  plan_memory(graph, backend_);
  EXPECT_EQ(offset(graph, a), offset(graph, view));
  EXPECT_NE(offset(graph, a), offset(graph, b));
}

TEST_F(Memory, AJoinIsMadeInPlaceAndItsSectionsLieInIt) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4, 4}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x});
  const ValueId between = graph.add1(ops::relu, {a});
  const ValueId b = graph.add1(ops::relu, {between});
  const ValueId block = graph.add1(
      ops::join, {b, a},
      {{"offset", std::int64_t{0}}, {"count", std::int64_t{64}}, {"firsts", Shape{48, 16}}});
  const ValueId section =
      graph.add1(ops::section, {block}, {{"offset", std::int64_t{16}}, {"shape", Shape{2, 8}}});
  const ValueId later = graph.add1(ops::relu, {between});
  const ValueId flat = graph.add1(ops::reshape, {later}, {{"shape", Shape{2, 8}}});
  graph.outputs = {graph.add1(ops::add, {section, flat})};
  for (const bool reuse : {true, false}) {
    Graph own = graph;
    plan_memory(own, backend_, reuse);
    const std::int64_t begin = offset(own, block);
    EXPECT_EQ(offset(own, a), begin + 64);
    EXPECT_EQ(offset(own, b), begin + 192);
    EXPECT_EQ(offset(own, section), offset(own, a)) << "the same elements";
    for (const ValueId other : {between, later})
      EXPECT_TRUE(offset(own, other) + 64 <= begin || offset(own, other) >= begin + 256);
  }
}

// A reduce-scatter leaves its part where it found the block, until that has been read.
TEST_F(Memory, APartLiesInTheBlockThatWasReduced) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {64}}, {Base::inputs, 0});
  const ValueId block = graph.add1(ops::relu, {x});
  const ValueId part = graph.add1(ops::reduce_scatter, {block},
                                  {{"axes", std::string("data")},
                                   {"part_offset", std::int64_t{16}},
                                   {"part_count", std::int64_t{16}}});
  const ValueId meanwhile = graph.add1(ops::relu, {x});
  const ValueId read = graph.add1(ops::relu, {part});
  graph.outputs = {meanwhile, read};
  plan_memory(graph, backend_);
  EXPECT_EQ(offset(graph, part), offset(graph, block) + 64);
  EXPECT_NE(offset(graph, meanwhile), offset(graph, block));
}

TEST_F(Memory, WithoutReuseEveryValueHasItsOwn) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {16}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x}), b = graph.add1(ops::relu, {a});
  graph.outputs = {b};
  EXPECT_EQ(plan_memory(graph, backend_, /*reuse=*/false).arena_bytes, 128);
}

// Random graphs: no two values that live at the same time share a byte, unless one is made in
// place.
TEST_F(Memory, LiveValuesNeverOverlap) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Graph graph;
    std::vector<ValueId> made = {graph.add_value("x", {DType::f32, {64}}, {Base::inputs, 0})};
    for (std::uint64_t i = 0; i < 40; ++i) {
      const auto pick = [&](std::uint64_t k) {
        const std::uint64_t recent = std::min<std::uint64_t>(made.size(), 6);
        return made[made.size() - 1 - draw(seed, 3 * i + k) % recent];
      };
      made.push_back(draw(seed, 3 * i) % 2 == 0 ? graph.add1(ops::relu, {pick(1)})
                                                : graph.add1(ops::add, {pick(1), pick(2)}));
    }
    graph.outputs = {made.back()};
    const MemoryPlan plan = plan_memory(graph, backend_);
    std::vector<int> last(graph.values.size(), -1);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (ValueId id : graph.nodes[i].inputs)
        last[static_cast<std::size_t>(id)] = static_cast<int>(i);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const ValueId out = graph.nodes[i].outputs[0];
      for (std::size_t k = 0; k < i; ++k) {
        const ValueId other = graph.nodes[k].outputs[0];
        const bool alive = last[static_cast<std::size_t>(other)] > static_cast<int>(i);
        if (alive) {
          EXPECT_NE(offset(graph, out), offset(graph, other)) << "seed " << seed;
        }
      }
    }
    EXPECT_LE(plan.arena_bytes, plan.live_bytes * 11 / 10);
  }
}

}  // namespace
}  // namespace tutti
