// SPDX-License-Identifier: Apache-2.0
// A09: what a pass adds to g, and that nothing else changes.
#include "tutti/passes/accumulate.h"

#include "tutti/graph/verify.h"
#include "tutti/nn/net.h"
#include "tutti/ops/add.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

Net differentiated(const char* model, const Shape& sample) {
  const List<Model> all = models();
  Net net = build_net(all.find(model), {},
                      {.fields = input_and_labels(sample), .classes = 10, .batch = 4});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  return net;
}

// The nodes that write into g.
std::vector<const Node*> writers(const Graph& graph) {
  std::vector<const Node*> found;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (graph.value(id).place.base == Base::gradients) found.push_back(&node);
  return found;
}

TEST(Accumulate, EveryGradientIsAddedToItsPlaceA09) {
  for (const char* model : {"mlp", "lenet", "resnet20"}) {
    Net net = differentiated(model, {1, 28, 28});
    const std::size_t gradients = writers(net.graph).size();
    ASSERT_GE(gradients, net.table.ranges.size());
    accumulate_gradients(net.graph);
    verify(net.graph, "accumulate");
    const std::vector<const Node*> after = writers(net.graph);
    EXPECT_EQ(after.size(), gradients);
    for (const Node* node : after) {
      ASSERT_EQ(node->op, &ops::add) << model << " " << node->name;
      EXPECT_EQ(net.graph.value(node->inputs[1]).place, net.graph.value(node->outputs[0]).place);
      EXPECT_EQ(net.graph.value(node->inputs[0]).place.base, Base::arena);
    }
  }
}

// A kernel that sums up in its result would lose what stands there.
TEST(Accumulate, IsNotFoldedIntoTheProductThatMakesTheGradient) {
  Net net = differentiated("mlp", {1, 28, 28});
  accumulate_gradients(net.graph);
  Backend backend;
  backend.fusible = [](const Graph&, const Node&) { return true; };
  fuse(net.graph, backend);
  verify(net.graph, "fuse");
  for (const Node* node : writers(net.graph)) EXPECT_EQ(node->op, &ops::add) << node->name;
}

}  // namespace
}  // namespace tutti
