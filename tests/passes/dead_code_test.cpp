// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/dead_code.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/autodiff.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(DeadCode, RemovesWhatNothingNeeds) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}});
  const ValueId used = graph.add1(ops::relu, {x});
  graph.add1(ops::relu, {used});
  graph.outputs = {used};
  remove_dead_code(graph);
  verify(graph, "dead_code");
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(DeadCode, KeepsWhatWritesPersistentMemory) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}});
  graph.value(graph.add1(ops::relu, {x})).place = {Base::gradients, 0};
  remove_dead_code(graph);
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(DeadCode, TheFirstLayerComputesNoInputGradient) {
  const List<Model> all = models();
  Net net = build_net(all.find("lenet"), {},
                      {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 2});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  int input_gradients = 0;
  for (const Node& node : net.graph.nodes)
    input_gradients += node.op == &ops::convolution_grad_input;
  EXPECT_EQ(input_gradients, 1);
}

}  // namespace
}  // namespace tutti
