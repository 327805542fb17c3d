// SPDX-License-Identifier: Apache-2.0
// C02: micro-batches by dynamic programming under a limit of scratch memory.
#include "tutti/passes/micro_batches.h"

#include "tutti/graph/verify.h"
#include "tutti/ops/convolution.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti {
namespace {

// A slow variant without scratch and faster ones whose scratch and time grow unevenly.
std::vector<FragmentOption> options_of(std::int64_t samples) {
  const auto s = static_cast<double>(samples);
  return {{"slow", 0.3 + s, 0},
          {"middle", 0.5 + 0.6 * s + (samples % 3 == 0 ? 0.0 : 0.2), samples * 10},
          {"fast", 1.1 + 0.25 * s + (samples % 4 == 0 ? 0.0 : 0.4), samples * samples * 7}};
}

double seconds_of(std::int64_t samples, std::int64_t limit) {
  double least = 1e30;
  for (const FragmentOption& option : options_of(samples))
    if (option.scratch_bytes <= limit) least = std::min(least, option.seconds);
  return least;
}

// All 2^(B−1) cuts.
double exhaustive(std::int64_t batch, std::int64_t limit) {
  double best = 1e30;
  for (std::uint32_t cuts = 0; cuts < (1u << (batch - 1)); ++cuts) {
    double sum = 0;
    std::int64_t samples = 1;
    for (std::int64_t i = 1; i < batch; ++i, ++samples)
      if ((cuts >> (i - 1) & 1u) != 0) {
        sum += seconds_of(samples, limit);
        samples = 0;
      }
    best = std::min(best, sum + seconds_of(samples, limit));
  }
  return best;
}

TEST(MicroBatches, C02DynamicProgrammingIsExhaustiveSearch) {
  double before = 1e30;
  for (const std::int64_t limit : {0, 20, 60, 100, 120, 200, 500, 10000}) {
    const auto fragments = cut_batch(16, options_of, limit);
    double sum = 0;
    std::int64_t samples = 0;
    for (const BatchFragment& fragment : fragments) {
      sum += seconds_of(fragment.samples, limit);
      samples += fragment.samples;
      for (const FragmentOption& option : options_of(fragment.samples))
        if (option.variant == fragment.variant) {
          EXPECT_LE(option.scratch_bytes, limit);
        }
    }
    EXPECT_EQ(samples, 16);
    EXPECT_NEAR(sum, exhaustive(16, limit), 1e-9) << limit;
    EXPECT_LE(sum, before + 1e-9) << "more memory must not take longer";
    before = sum;
  }
}

TEST(MicroBatches, C02WithoutAnyOptionNothingIsCut) {
  EXPECT_TRUE(cut_batch(
                  4, [](std::int64_t) { return std::vector<FragmentOption>{}; }, 9)
                  .empty());
}

// Equal to the whole batch, in double: forward and both gradients.
TEST(MicroBatches, C02EqualsTheFullBatch) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {5, 3, 7, 6}});
  const ValueId w = graph.add_value("w", {DType::f64, {4, 3, 3, 3}});
  const ValueId y = graph.add1(ops::convolution, {x, w}, {{"padding", Shape{1}}});
  const ValueId dy = graph.add_value("dy", graph.type(y));
  const Node forward = graph.nodes[0];
  const std::vector<ValueId> gradients = ops::convolution.gradient(graph, forward, {dy});
  contract::Values feeds;
  for (const ValueId id : {x, w, dy})
    feeds.insert_or_assign(
        id, contract::random_array(graph.type(id), static_cast<std::uint64_t>(id + 1)));
  const contract::Values whole = contract::evaluate(graph, feeds);
  Backend backend;
  backend.workspace_bytes = 2;
  backend.fragment_options = [](const Graph&, const Node&, std::int64_t samples) {
    return std::vector<FragmentOption>{{"auto", 1, samples}};
  };
  micro_batch(graph, backend);
  verify(graph, "micro_batches");
  EXPECT_GT(graph.nodes.size(), 9u);
  for (const Node& node : graph.nodes)
    if (node.op == &ops::convolution) {
      EXPECT_LE(graph.shape(node.inputs[0])[0], 2);
    }
  const contract::Values cut = contract::evaluate(graph, feeds);
  for (const ValueId id : {y, gradients[0], gradients[1]})
    EXPECT_LE(contract::difference(cut.at(id), whole.at(id)), 1e-12);
}

}  // namespace
}  // namespace tutti
