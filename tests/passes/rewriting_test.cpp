// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/rewriting.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/ops/add.h"
#include "tutti/ops/relu.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Users and producers after each change are those that are found anew.
TEST(Rewriting, UsersAndProducersFollowTheNodes) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4}}, {Base::inputs, 0});
  const ValueId a = graph.add1(ops::relu, {x}), b = graph.add1(ops::relu, {a});
  const ValueId twice = graph.add1(ops::add, {a, a});
  graph.results = {graph.add1(ops::add, {b, twice})};
  Rewriting rewriting(graph);
  const auto expect_right = [&] {
    const auto users = consumers(graph);
    for (std::size_t id = 0; id < users.size(); ++id)
      EXPECT_EQ(rewriting.users(static_cast<ValueId>(id)), users[id]) << id;
  };
  expect_right();

  Node sum = graph.nodes[3];  // reads a in place of what is to go
  sum.inputs = {a, twice};
  rewriting.replace(3, sum);
  expect_right();
  EXPECT_EQ(rewriting.users(a), (std::vector<NodeId>{1, 2, 2, 3}));
  rewriting.remove(1);
  expect_right();
  EXPECT_TRUE(rewriting.is_removed(1));
  EXPECT_EQ(graph.value(b).producer, no_node);

  Node other = graph.nodes[2];  // made anew as another value
  const ValueId fresh = graph.add_value("", graph.type(twice));
  other.outputs = {fresh};
  rewriting.replace(2, other);
  sum.inputs = {fresh, x};
  rewriting.replace(3, sum);
  expect_right();
  EXPECT_EQ(graph.value(fresh).producer, 2);
  EXPECT_EQ(graph.value(twice).producer, no_node);

  rewriting.apply();
  EXPECT_EQ(graph.nodes.size(), 3u);
  verify(graph, "rewriting");
}

}  // namespace
}  // namespace tutti
