// SPDX-License-Identifier: Apache-2.0
// C01: what becomes of a graph when its samples are split over ranks.
#include "tutti/parallel/partition.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/transpose.h"
#include "tutti/passes/autodiff.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

Net differentiated(const char* model, std::int64_t batch) {
  const List<Model> all = models();
  Net net = build_net(all.find(model), {},
                      {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = batch});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  return net;
}

TEST(PartitionSamples_C01, ShapesBecomeLocalAndTheGraphStaysWellFormed) {
  for (const char* model : {"mlp", "lenet", "lenet5"}) {
    Net net = differentiated(model, 6);
    partition_samples(net.graph, 6, 2);
    verify(net.graph, "partition");
    EXPECT_EQ(net.graph.shape(net.input)[0], 2) << model;
    EXPECT_EQ(net.graph.shape(net.output)[0], 2) << model;
  }
}

TEST(PartitionSamples, B19TwoMessagesPerBatchNorm) {
  const List<Model> all = models();
  Net net = build_net(all.find("resnet20"), {},
                      {.fields = input_and_labels({3, 8, 8}), .classes = 10, .batch = 6});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  partition_samples(net.graph, 6, 2);
  verify(net.graph, "partition");
  const auto messages = std::count_if(net.graph.nodes.begin(), net.graph.nodes.end(),
                                      [](const Node& node) { return node.op == &ops::allreduce; });
  const auto norms = std::count_if(net.layers.begin(), net.layers.end(),
                                   [](const LayerInfo& info) { return info.type == "batch_norm"; });
  EXPECT_EQ(norms, 19);
  EXPECT_EQ(messages, 2 * norms + 2) << "and loss and accuracy";
}

TEST(PartitionSamples_C01, EveryTrainableGradientIsMarkedPartialOnce) {
  for (const char* model : {"mlp", "lenet", "lenet5"}) {
    Net net = differentiated(model, 4);
    partition_samples(net.graph, 4, 2);
    std::vector<std::int64_t> marked, expected;
    for (const PartialRange& partial : net.graph.partial) {
      marked.push_back(partial.offset);
      EXPECT_EQ(partial.axes, "data");
    }
    for (const Range& range : net.table.ranges)
      if (range.trainable) expected.push_back(range.offset);
    std::sort(marked.begin(), marked.end());
    EXPECT_EQ(marked, expected) << model;
  }
}

TEST(PartitionSamples_C01, ResultsAreSummedInTheGraph) {
  Net net = differentiated("mlp", 4);
  partition_samples(net.graph, 4, 2);
  for (ValueId id : net.graph.results) {
    const NodeId producer = net.graph.value(id).producer;
    EXPECT_EQ(net.graph.nodes[static_cast<std::size_t>(producer)].op, &ops::allreduce);
    EXPECT_EQ(net.graph.value(id).place.base, Base::results);
  }
}

TEST(PartitionSamples_C01, RefusesAnOperatorThatMixesSamples) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4, 3}}, {Base::inputs, 0});
  graph.batch = {x};
  Op mixing = ops::transpose;
  mixing.sharding = [](const Settings&, const std::vector<Type>&) {
    return std::string("x[*,a] -> y[a,*]");
  };
  graph.scope = "mixer";
  graph.add(mixing, {x}, {{"permutation", Shape{1, 0}}});
  expect_error([&] { partition_samples(graph, 4, 2); }, {"mixer", "mixes samples"});
}

}  // namespace
}  // namespace tutti
