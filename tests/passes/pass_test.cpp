// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/pass.h"

#include "tutti/graph/op.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/layout.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(PassRunner, RefusesAnUnknownName) {
  expect_error([] { PassRunner({"fusee"}); }, {"unknown pass 'fusee'", "did you mean 'fuse'?"});
}

TEST(PassRunner, TimesVerifiesAndLeavesOut) {
  const KernelTable table = reference_kernels();
  const Backend backend = backend_of(table);
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}}, {Base::inputs, 0});
  graph.outputs = {graph.add1(ops::relu, {x})};
  PassContext context{.backend = backend};
  PassRunner runner({"fuse"});
  runner.run_all(graph, context);
  for (const PassReport& report : runner.reports()) {
    EXPECT_NE(report.name, "fuse");
    EXPECT_GE(report.seconds, 0);
  }
  EXPECT_EQ(runner.reports().size(), passes().names().size() - 1);
  EXPECT_GT(context.memory.arena_bytes, 0);
  EXPECT_THROW(runner.run("break", graph, [&] { graph.nodes[0].inputs[0] = graph.outputs[0]; }),
               std::logic_error);
}

TEST(Layout, ChangesOfLayoutAreVisibleNodesAndWeightsStayPlain) {
  // A back end that wants everything it computes in a layout of its own.
  Layout blocked{.name = "blocked", .description = std::vector<std::byte>(1), .bytes = 64};
  Backend backend;
  backend.layouts = [&](const Graph&, const Node& node) {
    return NodeLayouts{std::vector<Layout>(node.inputs.size(), blocked), {blocked}};
  };
  backend.same_bytes = [](const Type&, const Layout&, const Layout&) { return false; };
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2}}, {Base::weights, 0});
  const ValueId y = graph.add1(ops::relu, {x});
  const ValueId z = graph.add1(ops::relu, {y});
  graph.value(z).place = {Base::gradients, 0};
  assign_layouts(graph, backend);
  ASSERT_EQ(graph.nodes.size(), 4u);  // reorder, relu, relu, reorder
  EXPECT_EQ(graph.nodes[0].op, &ops::reorder);
  EXPECT_EQ(graph.nodes[3].op, &ops::reorder);
  EXPECT_TRUE(graph.value(x).layout.plain());
  EXPECT_TRUE(graph.value(z).layout.plain());
  EXPECT_EQ(graph.value(y).layout.name, "blocked");
}

}  // namespace
}  // namespace tutti
