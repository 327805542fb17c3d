// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/graph.h"

#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"
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
  const ValueId a = graph.add_value("a", {DType::f32, {2}}), b = graph.add_value("b", {DType::f32, {3}});
  expect_error([&] { graph.add(ops::add, {a, b}); }, {"[add]", "2", "3"});
  expect_error([&] { graph.add(ops::leaky_relu, {a}, {{"slop", 0.1}}); },
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

TEST(Sharding, ParsesIndexNotation) {
  const ShardingRule rule = parse_sharding("x[n,c,h+k,*] w[o,c,k] -> y[n,o,h,*] s[]");
  ASSERT_EQ(rule.inputs.size(), 2u);
  ASSERT_EQ(rule.outputs.size(), 2u);
  EXPECT_EQ(rule.inputs[0], (std::vector<std::string>{"n", "c", "h+k", "*"}));
  EXPECT_EQ(rule.inputs[1], (std::vector<std::string>{"o", "c", "k"}));
  EXPECT_EQ(rule.outputs[0], (std::vector<std::string>{"n", "o", "h", "*"}));
  EXPECT_TRUE(rule.outputs[1].empty());
}

TEST(Sharding, RefusesANotationWithoutArrow) {
  EXPECT_THROW(parse_sharding("x[n] y[n]"), std::logic_error);
}

}  // namespace
}  // namespace tutti
