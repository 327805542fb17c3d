// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/verify.h"

#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/relu.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

const Type vector4{DType::f32, {4}};

// x -> relu -> add(x)
Graph small_graph() {
  Graph graph;
  const ValueId x = graph.add_value("x", vector4, {Base::inputs, 0});
  const ValueId y = graph.add1(ops::relu, {x});
  graph.results = {graph.add1(ops::add, {x, y})};
  return graph;
}

void expect_broken(const Graph& graph, const std::string& why) {
  try {
    verify(graph, "test");
    ADD_FAILURE() << "no complaint, expected: " << why;
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(Verify, AcceptsAWellFormedGraph) { EXPECT_NO_THROW(verify(small_graph(), "test")); }

TEST(Verify, FindsAUseBeforeTheDefinition) {
  Graph graph = small_graph();
  std::swap(graph.nodes[0], graph.nodes[1]);
  renumber(graph);
  expect_broken(graph, "before it is made");
}

TEST(Verify, FindsAWrongType) {
  Graph graph = small_graph();
  graph.value(graph.nodes[0].outputs[0]).type.shape = {5};
  expect_broken(graph, "is inferred");
}

TEST(Verify, RefusesBf16WhereItIsNotTaken) {
  Graph graph = small_graph();
  graph.value(graph.nodes[0].inputs[0]).type.dtype = DType::bf16;
  expect_error([&] { verify(graph, "test"); }, {"[relu]", "bf16", "cast to f32"});
}

TEST(Verify, FindsTwoProducers) {
  Graph graph = small_graph();
  graph.nodes.push_back(graph.nodes[0]);
  expect_broken(graph, "two producers");
}

TEST(Verify, FindsAProducerThatWasNotRenumbered) {
  Graph graph = small_graph();
  graph.value(graph.nodes[0].outputs[0]).producer = 7;
  expect_broken(graph, "another producer");
}

TEST(Verify, FindsAReadOfAnOverwrittenRange) {
  Graph graph;
  const ValueId w = graph.add_value("w", vector4, {Base::weights, 0});
  const ValueId updated = graph.add1(ops::relu, {w});
  graph.value(updated).place = {Base::weights, 0};
  graph.results = {graph.add1(ops::relu, {w})};  // reads the old version too late
  expect_broken(graph, "after node 0 has overwritten it");
}

// Writes into parts of a range, neighbours and the whole: only what overlaps is stale.
TEST(Verify, FindsAReadOfARangeThatIsPartlyOverwritten) {
  for (const std::int64_t first : {0, 4, 8, 12}) {
    Graph graph;
    const auto at = [&](std::int64_t element) { return Place{Base::weights, 4 * element}; };
    const ValueId x = graph.add_value("x", vector4, {Base::inputs, 0});
    const ValueId w = graph.add_value("w", {DType::f32, {8}}, at(4));
    for (const std::int64_t element : {first, std::int64_t{20}})
      graph.value(graph.add1(ops::relu, {x})).place = at(element);
    graph.results = {graph.add1(ops::relu, {w})};
    if (first == 4 || first == 8)
      expect_broken(graph, "reads 'w' after node 0 has overwritten it");
    else
      EXPECT_NO_THROW(verify(graph, "test"));
  }
}

TEST(Verify, TellsVersionsOfPartsApart) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {8}}, {Base::inputs, 0});
  const ValueId whole = graph.add1(ops::relu, {x});
  graph.value(whole).place = {Base::gradients, 0};
  const ValueId y = graph.add_value("y", vector4, {Base::inputs + 1, 0});
  const ValueId half = graph.add1(ops::relu, {y});
  graph.value(half).place = {Base::gradients, 16};
  graph.results = {graph.add1(ops::relu, {half})};
  EXPECT_NO_THROW(verify(graph, "test"));
  graph.results.push_back(graph.add1(ops::relu, {whole}));
  expect_broken(graph, "after node 1 has overwritten it");
}

TEST(Verify, AllowsAReadOfTheNewVersion) {
  Graph graph;
  const ValueId w = graph.add_value("w", vector4, {Base::weights, 0});
  const ValueId updated = graph.add1(ops::relu, {w});
  graph.value(updated).place = {Base::weights, 0};
  graph.results = {graph.add1(ops::relu, {updated})};
  EXPECT_NO_THROW(verify(graph, "test"));
}

}  // namespace
}  // namespace tutti
