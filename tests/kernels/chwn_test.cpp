// SPDX-License-Identifier: Apache-2.0
// B14: images with the samples innermost (CHWN), next to the other layouts that convolutions ask
// for.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/selection.h"
#include "tutti/ops/add.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/autodiff.h"

#include "contract/run_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tutti {
namespace {

using contract::Values;

ValueId image(Graph& graph, Values& feeds, Shape shape) {
  const Type type{DType::f32, std::move(shape)};
  const ValueId id = graph.add_value("", type);
  feeds.insert_or_assign(id, contract::random_array(type, static_cast<std::uint64_t>(70 + id)));
  return id;
}

bool ran(const contract::GraphRun& run, const std::string& what) {
  return std::any_of(run.implementations.begin(), run.implementations.end(),
                     [&](const std::string& one) { return one.starts_with(what); });
}

// Two convolutions (one with stride and groups) with bias, ReLU, pooling and a residual between
// them, and all gradients.
TEST(Chwn, B14AllLayoutsAgree) {
  for (const std::int64_t samples : {1, 5}) {
    Graph graph;
    Values feeds;
    const ValueId x = image(graph, feeds, {samples, 3, 9, 8});
    const ValueId w1 = image(graph, feeds, {16, 3, 3, 3}), b1 = image(graph, feeds, {16});
    const ValueId w2 = image(graph, feeds, {16, 16, 3, 3}), w3 = image(graph, feeds, {6, 8, 2, 3});
    const auto same = [&](ValueId in, ValueId w) {
      return graph.add1(ops::convolution, {in, w}, {{"padding", Shape{1}}});
    };
    const ValueId first =
        graph.add1(ops::relu, {graph.add1(ops::bias, {same(x, w1), b1}, {{"axis", 1}})});
    const ValueId sum = graph.add1(ops::relu, {graph.add1(ops::add, {same(first, w2), first})});
    const ValueId pooled = graph.add(ops::max_pool, {sum}, {{"kernel", Shape{2}}})[0];
    const ValueId third =
        graph.add1(ops::convolution, {pooled, w3}, {{"stride", Shape{2, 1}}, {"groups", 2}});
    const ValueId y = graph.add1(ops::average_pool, {third}, {{"global", true}});
    const ValueId dy = image(graph, feeds, graph.shape(y));
    graph.outputs = gradients(graph, {y}, {dy}, {x, w1, b1, w2, w3});
    graph.outputs.push_back(y);
    const Values expected = contract::evaluate(graph, feeds);
    for (const std::string variant :
         {"im2col", "onednn", "winograd-f2", "im2col-chwn", "direct-chwn"}) {
      const int threads = samples > 1 ? 2 : 1;
      const contract::GraphRun found =
          contract::run_graph(graph, feeds, cpu_kernels(), threads, {}, {.convolution = variant});
      for (std::size_t k = 0; k < graph.outputs.size(); ++k)
        EXPECT_LE(contract::difference(found.outputs[k], expected.at(graph.outputs[k])), 1e-5)
            << variant << ", output " << k << ", " << samples << " samples";
      if (!variant.ends_with("chwn")) continue;
      for (const char* op : {"convolution ", "convolution_grad_input ", "convolution_grad_weight "})
        EXPECT_TRUE(ran(found, op + variant)) << op << variant;
      // One sample lies alike in both layouts.
      EXPECT_EQ(ran(found, "reorder"), samples > 1) << variant;
    }
  }
}

// To each layout that a variant of convolution wants its images in, and back.
TEST(Chwn, B14TheRoundTripKeepsEveryBit) {
  const KernelTable table = cpu_kernels();
  std::vector<std::string> names;
  for (const Implementation& variant : table.by_op.at("convolution")) {
    Graph wanting;
    const Type type{DType::f32, {3, 20, 6, 7}};
    const ValueId there = wanting.add_value("x", type);
    const ValueId w = wanting.add_value("w", {DType::f32, {16, 20, 3, 3}});
    wanting.add1(ops::convolution, {there, w}, {{"padding", Shape{1}}});
    if (variant.layouts == nullptr || !variant.supports(wanting, wanting.nodes[0])) continue;
    const Layout layout = variant.layouts(wanting, wanting.nodes[0]).inputs[0];
    if (layout.plain()) continue;
    names.push_back(layout.name);
    Graph graph;
    Values feeds;
    const ValueId x = image(graph, feeds, type.shape);
    feeds.at(x).set(5, -0.0);
    feeds.at(x).set(6, 1e-42);  // less than the least normal float
    const ValueId y = graph.add1(ops::reorder, {x});
    graph.value(y).layout = layout;
    graph.outputs = {graph.add1(ops::reorder, {y})};
    const contract::GraphRun found = contract::run_graph(graph, feeds, table, 2);
    EXPECT_EQ(found.implementations.size(), 2u);
    EXPECT_EQ(std::memcmp(found.outputs[0].memory.data(), feeds.at(x).memory.data(),
                          static_cast<std::size_t>(type.bytes())),
              0)
        << layout.name;
  }
  EXPECT_GE(std::count(names.begin(), names.end(), "chwn"), 2);
  EXPECT_GE(std::count(names.begin(), names.end(), "nChw16c"), 1);
}

}  // namespace
}  // namespace tutti
