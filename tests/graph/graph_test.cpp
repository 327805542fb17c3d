// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/graph.h"

#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/leaky_relu.h"
#include "tutti/ops/relu.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Graph, AddFillsDefaultsAndInfersTypes) {
  Graph graph;
  graph.scope = "layer1";
  const ValueId x = graph.add_value("x", {DType::f64, {2, 3}});
  const ValueId y = graph.add1(ops::leaky_relu, {x});
  EXPECT_EQ(graph.shape(y), (Shape{2, 3}));
  EXPECT_EQ(graph.type(y).dtype, DType::f64);
  EXPECT_DOUBLE_EQ(graph.nodes[0].settings.real("slope"), 0.01);
  EXPECT_EQ(graph.nodes[0].name, "layer1");
}

TEST(Graph, AddRefusesWhatDoesNotFit) {
  Graph graph;
  const ValueId a = graph.add_value("a", {DType::f32, {2}}),
                b = graph.add_value("b", {DType::f32, {3}});
  expect_error([&] { graph.add(ops::add, {a, b}); }, {"[add]", "2", "3"});
  expect_error(
      [&] {
        graph.add(ops::leaky_relu, {a}, {{"slop", 0.1}});
      },
      {"[leaky_relu]", "slop", "did you mean 'slope'?"});
}

TEST(Graph, OriginsAreUnique) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}});
  graph.add(ops::relu, {x});
  graph.add(ops::relu, {x});
  EXPECT_NE(graph.nodes[0].origin, graph.nodes[1].origin);
}

TEST(Graph, ConsumersListsEveryReader) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}});
  const ValueId y = graph.add1(ops::relu, {x});
  graph.add(ops::add, {x, y});
  const auto users = consumers(graph);
  EXPECT_EQ(users[static_cast<std::size_t>(x)], (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(users[static_cast<std::size_t>(y)], (std::vector<NodeId>{1}));
}

TEST(Graph, PrintShowsOperatorsTypesAndLayers) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2, 3}});
  graph.scope = "act";
  graph.add(ops::relu, {x});
  EXPECT_EQ(print(graph), "%1 f32[2×3] = relu(%0:x)  # act\n");
}

}  // namespace
}  // namespace tutti
