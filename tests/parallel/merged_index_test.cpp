// SPDX-License-Identifier: Apache-2.0
// Samples of several tokens, cut over ranks behind a reshape that merges the two: n·t rows in one
// dimension. Loss and gradients are those of one rank.
#include "tutti/ops/bias.h"
#include "tutti/ops/cross_entropy.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/reshape.h"
#include "tutti/passes/autodiff.h"

#include "expect_error.h"
#include "parallel/run_ranks.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Two linear layers on every token; labels and weights have one for each of them.
struct TokenNet {
  static constexpr std::int64_t samples = 6, tokens = 5, width = 4, classes = 3;

  Graph graph;
  RangeTable table;
  std::vector<ValueId> parameters;
  ValueId hidden = no_value, loss = no_value;

  TokenNet() {
    const ValueId x = batch("x", {DType::f64, {samples, tokens, width}});
    const ValueId labels = batch("labels", {DType::i32, {samples, tokens}});
    const ValueId weights = batch("weights", {DType::f64, {samples, tokens}});
    const ValueId a = parameter("a", {width, width}), b = parameter("b", {width});
    const ValueId c = parameter("c", {classes, width});
    const Settings transposed{{"transpose_b", true}};
    hidden = graph.add1(ops::matmul, {shaped(x, {-1, width}), a}, transposed);
    hidden = graph.add1(ops::relu, {graph.add1(ops::bias, {hidden, b})});
    // There and back again: a layer in between may want the tokens of a sample together.
    const ValueId again = shaped(shaped(hidden, {-1, tokens, width}), {-1, width});
    const ValueId logits = graph.add1(ops::matmul, {again, c}, transposed);
    loss = graph.add1(ops::softmax_cross_entropy,
                      {logits, shaped(labels, {-1}), shaped(weights, {-1})});
    graph.value(loss).place = {Base::results, 0};
    graph.results = {loss};
    differentiate(graph, loss, table, parameters);
  }

  ValueId batch(const char* name, const Type& type) {
    graph.batch.push_back(graph.add_value(name, type, {Base::inputs, 0}));
    return graph.batch.back();
  }
  ValueId parameter(const char* name, const Shape& shape) {
    const int range = table.add(name, shape);
    const std::int64_t offset = table.ranges[static_cast<std::size_t>(range)].offset;
    parameters.push_back(graph.add_value(name, {DType::f64, shape}, {Base::weights, offset * 8}));
    return parameters.back();
  }
  ValueId shaped(ValueId x, const Shape& shape) {
    return graph.add1(ops::reshape, {x}, {{"shape", shape}});
  }
  std::vector<ValueId> gradients() const {
    std::vector<ValueId> found;
    for (std::size_t id = 0; id < graph.values.size(); ++id)
      if (graph.values[id].place.base == Base::gradients) found.push_back(static_cast<ValueId>(id));
    return found;
  }
};

const std::vector<std::vector<std::int64_t>> cuts{{6}, {3, 3}, {2, 2, 2}, {1, 3, 2}, {5, 1}};

TEST(MergedIndex, ARankHasAllTokensOfItsSamples) {
  const TokenNet net;
  for (const auto& shares : cuts) {
    const auto ranks = contract::run_ranks(net.graph, contract::random_feeds(net.graph), shares);
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      EXPECT_EQ(ranks[rank].graph.shape(net.hidden),
                (Shape{shares[rank] * TokenNet::tokens, TokenNet::width}));
  }
}

TEST(MergedIndex, LossAndGradientsAreThoseOfOneRank) {
  const TokenNet net;
  const contract::Values feeds = contract::random_feeds(net.graph);
  const contract::Values expected = contract::evaluate(net.graph, feeds, {.loss_scale = 1});
  ASSERT_EQ(net.gradients().size(), 3U);
  for (const auto& shares : cuts) {
    const auto ranks = contract::run_ranks(net.graph, feeds, shares, {.loss_scale = 1});
    const Graph& cut = ranks[0].graph;
    EXPECT_LT(contract::difference(ranks[0].values.at(cut.results[0]), expected.at(net.loss)),
              1e-13);
    EXPECT_EQ(cut.partial.size(), 3U) << "every gradient is a summand";
    for (const ValueId id : net.gradients()) {
      contract::Array sum(net.graph.type(id));
      for (const auto& rank : ranks)
        for (std::int64_t i = 0; i < sum.count(); ++i)
          sum.set(i, sum.get(i) + rank.values.at(id).get(i));
      EXPECT_LT(contract::difference(sum, expected.at(id)), 1e-13) << net.graph.value(id).name;
    }
  }
}

// Two samples become one row: the batch can be cut between pairs only.
TEST(MergedIndex, SamplesThatShareARowAreNotCutApart) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {6, 2}}, {Base::inputs, 0});
  graph.batch = {x};
  const ValueId pairs = graph.add1(ops::reshape, {x}, {{"shape", Shape{-1, 4}}});
  graph.value(pairs).name = "pairs";
  Graph even = graph;
  partition_samples(even, 6, 2);
  EXPECT_EQ(even.shape(pairs), (Shape{1, 4}));
  verify(even, "partition");
  expect_error([&] { partition_samples(graph, 6, 3); }, {"pairs", "3 of 6 samples"});
}

TEST(MergedIndex, AWrittenBatchCanNotBeCut) {
  Graph graph;
  graph.batch = {graph.add_value("x", {DType::f64, {6, 2}}, {Base::inputs, 0})};
  graph.scope = "merger";
  graph.add1(ops::reshape, {graph.batch[0]}, {{"shape", Shape{12}}});
  expect_error([&] { partition_samples(graph, 6, 2); }, {"merger", "mixes samples"});
}

}  // namespace
}  // namespace tutti
