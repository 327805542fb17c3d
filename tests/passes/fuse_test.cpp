// SPDX-License-Identifier: Apache-2.0
// B38: point-wise operators fold into their producers. Equality of results is the contract test's.
#include "tutti/passes/fuse.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/kernels/backends.h"
#include "tutti/nn/net.h"
#include "tutti/ops/add.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

int count(const Graph& graph, const Op& op) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const Node& node) { return node.op == &op; }));
}

class Fuse : public ::testing::Test {
 protected:
  void run(Graph& graph) {
    fuse(graph, backend_);
    verify(graph, "fuse");
  }
  KernelTable table_ = reference_kernels();
  Backend backend_ = backend_of(table_);
};

TEST_F(Fuse, BiasResidualAndActivationBecomeOneNode) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2, 3}});
  const ValueId w = graph.add_value("w", {DType::f32, {4, 3}});
  const ValueId b = graph.add_value("b", {DType::f32, {4}});
  const ValueId r = graph.add_value("r", {DType::f32, {2, 4}});
  const ValueId y = graph.add1(ops::matmul, {x, w}, {{"transpose_b", true}});
  const ValueId biased = graph.add1(ops::bias, {y, b}, {{"axis", std::int64_t{-1}}});
  graph.outputs = {graph.add1(ops::relu, {graph.add1(ops::add, {biased, r})})};
  run(graph);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].settings.text("activation"), "relu");
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<ValueId>{x, w, b, r}));
  EXPECT_EQ(graph.nodes[0].outputs, graph.outputs);
}

TEST_F(Fuse, AValueThatSomebodyElseReadsStays) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2, 3}});
  const ValueId w = graph.add_value("w", {DType::f32, {3, 4}});
  const ValueId y = graph.add1(ops::matmul, {x, w});
  graph.outputs = {y, graph.add1(ops::relu, {y})};
  run(graph);
  EXPECT_EQ(graph.nodes.size(), 2u);
}

TEST_F(Fuse, TrainingLeNetKeepsNoSeparateBiasOrActivation) {
  const List<Model> all = models();
  Net net = build_net(all.find("lenet"), {},
                      {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 2});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  run(net.graph);
  EXPECT_EQ(count(net.graph, ops::bias), 0);
  EXPECT_EQ(count(net.graph, ops::relu), 0);
  int with_bias = 0;
  for (const Node& node : net.graph.nodes)
    with_bias += node.op == &ops::convolution_grad_weight && node.settings.flag("with_bias");
  EXPECT_EQ(with_bias, 2);
  // ReLU's gradient runs on the pooled tensor: the node before each un-pooling.
  for (const Node& node : net.graph.nodes)
    if (node.op == &ops::max_pool_grad) {
      const NodeId before = net.graph.value(node.inputs[0]).producer;
      EXPECT_EQ(net.graph.nodes[static_cast<std::size_t>(before)].op, &ops::relu_grad);
    }
}

TEST_F(Fuse, TrainingResNetKeepsNoSeparateActivationOrAddition) {
  const List<Model> all = models();
  Net net = build_net(all.find("resnet20"), {},
                      {.fields = input_and_labels({3, 8, 8}), .classes = 10, .batch = 2});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  run(net.graph);
  EXPECT_EQ(count(net.graph, ops::relu), 0);
  EXPECT_EQ(count(net.graph, ops::normalise), 19);
  EXPECT_EQ(count(net.graph, ops::normalise_grad), 19);
  EXPECT_EQ(count(net.graph, ops::normalise_grad_input), 0);
  EXPECT_EQ(count(net.graph, ops::channel_sums_grad), 0);
  // Only behind an addition is the masked gradient needed twice.
  EXPECT_EQ(count(net.graph, ops::relu_grad), 9);
}

// A block's channels are normalised and handed on: their gradient is a sum of more than two parts.
TEST_F(Fuse, TrainingDenseNetJoinsTheGradientsOfNormalisations) {
  const List<Model> all = models();
  Net net = build_net(all.find("densenet_bc100_12"), {},
                      {.fields = input_and_labels({3, 8, 8}), .classes = 10, .batch = 2});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  run(net.graph);
  verify(net.graph, "densenet");
  EXPECT_EQ(count(net.graph, ops::relu), 0);
  EXPECT_EQ(count(net.graph, ops::normalise_grad), 99);
  EXPECT_EQ(count(net.graph, ops::normalise_grad_input), 0);
  EXPECT_EQ(count(net.graph, ops::channel_sums_grad), 0);
  EXPECT_EQ(count(net.graph, ops::relu_grad), 0);
}

}  // namespace
}  // namespace tutti
