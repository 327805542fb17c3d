// SPDX-License-Identifier: Apache-2.0
// Kernels that run only on the layouts that convolutions leave: behind and before a convolution,
// against the reference.
#include "tutti/kernels/backends.h"
#include "tutti/ops/add.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/relu.h"
#include "tutti/passes/autodiff.h"

#include "contract/run_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

using contract::Array;
using contract::Values;

// Float sums of 27 products and more in another order.
constexpr double layout_tolerance = 1e-5;

ValueId feed(Graph& graph, Values& feeds, Shape shape) {
  const Type type{DType::f32, std::move(shape)};
  const ValueId id = graph.add_value("", type);
  feeds.insert_or_assign(id, contract::random_array(type, static_cast<std::uint64_t>(40 + id)));
  return id;
}

// Compares on one thread and on two; returns what ran.
std::vector<std::string> compare(const Graph& graph, const Values& feeds) {
  const Values expected = contract::evaluate(graph, feeds);
  std::vector<std::string> ran;
  for (const int threads : {1, 2}) {
    const contract::GraphRun found = contract::run_graph(graph, feeds, cpu_kernels(), threads);
    for (std::size_t k = 0; k < graph.outputs.size(); ++k)
      EXPECT_LE(contract::difference(found.outputs[k], expected.at(graph.outputs[k])),
                layout_tolerance)
          << "output " << k << " of\n"
          << print(graph);
    ran = found.implementations;
  }
  return ran;
}

bool contains(const std::vector<std::string>& ran, const std::string& name) {
  return std::count(ran.begin(), ran.end(), name) > 0;
}

struct PoolCase {
  Settings settings;
  Shape spatial;
};

std::vector<PoolCase> pool_cases() {
  return {{{{"kernel", Shape{2}}}, {8, 8}},
          {{{"kernel", Shape{2}}}, {7, 5}},  // the last row and column fall outside
          {{{"kernel", Shape{3}}, {"stride", Shape{2}}, {"padding", Shape{1}}}, {9, 8}},
          {{{"kernel", Shape{3}}, {"stride", Shape{1}}, {"padding", Shape{1}}}, {6, 6}},
          {{{"kernel", Shape{2, 3}}, {"stride", Shape{3, 1}}}, {8, 7}},
          {{{"kernel", Shape{3}}, {"stride", Shape{2}}, {"ceil", true}}, {8, 6}},
          {{{"global", true}}, {5, 6}},
          {{{"kernel", Shape{2}}}, {9}},
          {{{"kernel", Shape{3}}, {"stride", Shape{2}}, {"padding", Shape{1}}}, {9}}};
}

// convolution → ReLU → max-pool and all gradients.
TEST(BlockedLayouts, MaxPoolBehindAConvolution) {
  bool forward = false, backward = false;
  for (const std::int64_t channels : {4, 6, 8, 16, 24, 32})
    for (const PoolCase& size : pool_cases()) {
      Graph graph;
      Values feeds;
      Shape x_shape = {2, 3}, w_shape = {channels, 3};
      for (const std::int64_t extent : size.spatial) x_shape.push_back(extent);
      for (std::size_t d = 0; d < size.spatial.size(); ++d) w_shape.push_back(3);
      const ValueId x = feed(graph, feeds, x_shape), w = feed(graph, feeds, w_shape);
      const ValueId y =
          graph.add1(ops::relu, {graph.add1(ops::convolution, {x, w}, {{"padding", Shape{1}}})});
      const ValueId pooled = graph.add(ops::max_pool, {y}, size.settings)[0];
      const ValueId dy = feed(graph, feeds, graph.shape(pooled));
      graph.outputs = gradients(graph, {pooled}, {dy}, {w, x});
      graph.outputs.push_back(pooled);
      const std::vector<std::string> ran = compare(graph, feeds);
      forward |= contains(ran, "max_pool simd");
      backward |= contains(ran, "max_pool_grad simd");
    }
  EXPECT_TRUE(forward && backward) << "no case reaches the loops over channels";
}

// The mean of a whole image is one pixel, which lies alike in all layouts.
TEST(BlockedLayouts, AveragePoolBehindAConvolution) {
  for (const std::int64_t channels : {6, 16})
    for (const PoolCase& size : pool_cases()) {
      if (size.spatial.size() != 2) continue;
      Graph graph;
      Values feeds;
      const ValueId x = feed(graph, feeds, {2, 3, size.spatial[0], size.spatial[1]});
      const ValueId w1 = feed(graph, feeds, {8, 3, 3, 3}),
                    w2 = feed(graph, feeds, {channels, 8, 3, 3});
      ValueId y = graph.add1(ops::convolution, {x, w1}, {{"padding", Shape{1}}});
      y = graph.add1(ops::convolution, {y, w2}, {{"padding", Shape{1}}});
      const ValueId pooled = graph.add1(ops::average_pool, {y}, size.settings);
      const ValueId dy = feed(graph, feeds, graph.shape(pooled));
      graph.outputs = gradients(graph, {pooled}, {dy}, {w1, w2});
      graph.outputs.push_back(pooled);
      compare(graph, feeds);
    }
}

// Equal values: the first of a window wins, and only it gets the gradient.
TEST(BlockedLayouts, MaxPoolOfEqualValues) {
  for (const std::int64_t channels : {6, 16}) {
    Graph graph;
    Values feeds;
    const ValueId x = feed(graph, feeds, {2, 3, 6, 6}), w = feed(graph, feeds, {channels, 3, 3, 3});
    for (std::int64_t i = 0; i < feeds.at(w).count(); ++i) feeds.at(w).set(i, 0);
    const ValueId y = graph.add1(ops::convolution, {x, w}, {{"padding", Shape{1}}});
    const std::vector<ValueId> pooled = graph.add(ops::max_pool, {y}, {{"kernel", Shape{2}}});
    const ValueId dy = feed(graph, feeds, graph.shape(pooled[0]));
    graph.outputs = gradients(graph, {pooled[0]}, {dy}, {y});
    graph.outputs.push_back(pooled[1]);
    compare(graph, feeds);
  }
}

// Two convolutions, bias, residual and ReLU between them, and all gradients: reorders on the way.
TEST(BlockedLayouts, B14BetweenConvolutions) {
  for (const std::int64_t channels : {3, 6, 16, 20, 32}) {
    Graph graph;
    Values feeds;
    const ValueId x = feed(graph, feeds, {2, 3, 9, 7});
    const ValueId w1 = feed(graph, feeds, {channels, 3, 3, 3}), b1 = feed(graph, feeds, {channels});
    const ValueId w2 = feed(graph, feeds, {channels, channels, 3, 3}),
                  b2 = feed(graph, feeds, {channels});
    const auto convolution = [&](ValueId in, ValueId w, ValueId b) {
      const ValueId y = graph.add1(ops::convolution, {in, w}, {{"padding", Shape{1}}});
      return graph.add1(ops::bias, {y, b}, {{"axis", 1}});
    };
    const ValueId first = graph.add1(ops::relu, {convolution(x, w1, b1)});
    const ValueId second = convolution(first, w2, b2);
    const ValueId sum = graph.add1(ops::relu, {graph.add1(ops::add, {second, first})});
    const ValueId dy = feed(graph, feeds, graph.shape(sum));
    graph.outputs = gradients(graph, {sum}, {dy}, {x, w1, b1, w2, b2});
    graph.outputs.push_back(sum);
    compare(graph, feeds);
  }
}

}  // namespace
}  // namespace tutti
