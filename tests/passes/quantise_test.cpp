// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/quantise.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/matmul.h"
#include "tutti/passes/fuse.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op->name);
  return names;
}

Net small_net() {
  const List<Model> all = models();
  return build_net(all.find("mlp"), {{"hidden", Shape{20, 20}}},
                   {.fields = input_and_labels({16}), .classes = 4, .batch = 3, .training = false});
}

Backend backend(const KernelTable& table, const char* precision) {
  Backend backend = backend_of(table);
  backend.precision = precision;
  return backend;
}

TEST(QuantisePass, B03WeightsComeFirstAndAreKept) {
  const KernelTable table = reference_kernels();
  Net net = small_net();
  Graph& graph = net.graph;
  fuse(graph, backend(table, "int8"));
  const Graph before = graph;
  quantise(graph, backend(table, "f32"));
  EXPECT_EQ(names_of(graph), names_of(before));
  quantise(graph, backend(table, "int8"));
  verify(graph, "quantise");
  const std::vector<std::string> names = names_of(graph);
  EXPECT_EQ(constant_nodes(graph), 3);
  EXPECT_EQ(std::count(names.begin(), names.end(), "quantise"), 6);
  EXPECT_EQ(std::count(names.begin(), names.end(), "matmul_i8"), 3);
  EXPECT_EQ(std::count(names.begin(), names.end(), "dequantise"), 3) << "bias and ReLU are in it";
  EXPECT_EQ(std::count(names.begin(), names.end(), "relu"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "matmul"), 0);
  // Bytes of integers and scales, each from a multiple of 64 on but for the end.
  EXPECT_EQ(constant_bytes(graph), 320 + 128 + 448 + 128 + 128 + 16);
  EXPECT_EQ(constant_bytes(before), 0);

  const contract::Values feeds = test::first_values(net);
  const ValueId output = graph.outputs.at(0);
  const double difference = contract::difference(contract::evaluate(graph, feeds).at(output),
                                                 contract::evaluate(before, feeds).at(output));
  EXPECT_LT(difference, 0.02);
  EXPECT_GT(difference, 1e-6) << "nothing was rounded";
}

// What is made by a node may change from batch to batch.
TEST(QuantisePass, OtherProductsStayFloat) {
  const KernelTable table = reference_kernels();
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {3, 5}}, {Base::inputs, 0});
  const ValueId w = graph.add_value("w", {DType::f32, {4, 5}}, {Base::weights, 0});
  graph.add1(ops::matmul, {x, x}, {{"transpose_b", true}});
  graph.add1(ops::matmul, {w, w}, {{"transpose_a", true}});
  quantise(graph, backend(table, "int8"));
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"matmul", "matmul"}));
  EXPECT_EQ(constant_nodes(graph), 0);
}

// A weight that two products read, and a value that two products read, are quantised once.
TEST(QuantisePass, WhatIsSharedIsQuantisedOnce) {
  const KernelTable table = reference_kernels();
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {3, 5}}, {Base::inputs, 0});
  const ValueId z = graph.add_value("z", {DType::f32, {3, 5}}, {Base::inputs, 64});
  const ValueId w = graph.add_value("w", {DType::f32, {4, 5}}, {Base::weights, 0});
  const ValueId v = graph.add_value("v", {DType::f32, {2, 5}}, {Base::weights, 128});
  for (const auto& [a, b] : {std::pair{x, w}, {x, v}, {z, w}})
    graph.add1(ops::matmul, {a, b}, {{"transpose_b", true}});
  quantise(graph, backend(table, "int8"));
  verify(graph, "quantise");
  const std::vector<std::string> names = names_of(graph);
  EXPECT_EQ(std::count(names.begin(), names.end(), "quantise"), 4);
  EXPECT_EQ(constant_nodes(graph), 2);
}

}  // namespace
}  // namespace tutti
