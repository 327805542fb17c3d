// SPDX-License-Identifier: Apache-2.0
// Random numbers belong to elements of the whole batch: how it is cut over ranks, and whether
// tokens stand in a dimension of their own, changes none of them.
#include "tutti/ops/dropout.h"
#include "tutti/ops/reshape.h"
#include "tutti/passes/sample_rows.h"

#include "expect_error.h"
#include "parallel/run_ranks.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::int64_t samples = 6, tokens = 5, width = 4;

// dropout(x) with the samples of x[n,t,d] merged with the tokens, kept apart, or with x flat.
Graph dropped(const Shape& shape) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {samples, tokens, width}}, {Base::inputs, 0});
  graph.batch = {x};
  const ValueId shaped = graph.add1(ops::reshape, {x}, {{"shape", shape}});
  graph.outputs = {graph.add1(ops::dropout, {shaped}, {{"rate", 0.5}})};
  count_sample_rows(graph);
  return graph;
}

const StepState second_step{.step = 2, .key = 77};

std::vector<double> numbers(const contract::Array& array) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < array.count(); ++i) all.push_back(array.get(i));
  return all;
}

TEST(RandomNumbers, BehindAMergeDoNotDependOnTheCut) {
  for (const Shape& shape : {Shape{-1, width}, Shape{0, -1}, Shape{-1}, Shape{-1, tokens, width}}) {
    const Graph graph = dropped(shape);
    const contract::Values feeds = contract::random_feeds(graph);
    const std::vector<double> whole =
        numbers(contract::evaluate(graph, feeds, second_step).at(graph.outputs[0]));
    EXPECT_EQ(
        whole,
        numbers(contract::evaluate(dropped({0, -1}), feeds, second_step).at(graph.outputs[0])))
        << "the shape does not matter either";
    for (const std::vector<std::int64_t>& shares :
         {std::vector<std::int64_t>{3, 3}, {2, 2, 2}, {1, 3, 2}}) {
      std::vector<double> together;
      for (const auto& rank : contract::run_ranks(graph, feeds, shares, second_step)) {
        const std::vector<double> own = numbers(rank.values.at(graph.outputs[0]));
        together.insert(together.end(), own.begin(), own.end());
      }
      EXPECT_EQ(together, whole) << shares.size() << " ranks, " << to_string(shape);
    }
  }
}

// A mask on weights is one mask, whoever holds which samples.
TEST(RandomNumbers, OfWhatHasNoSamplesAreEqualOnAllRanks) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {samples, width}}, {Base::inputs, 0});
  const ValueId w = graph.add_value("w", {DType::f64, {3, width}}, {Base::weights, 0});
  graph.batch = {x};
  const ValueId mask = graph.add1(ops::dropout, {w}, {{"rate", 0.5}});
  count_sample_rows(graph);
  const contract::Values feeds = contract::random_feeds(graph);
  const auto ranks = contract::run_ranks(graph, feeds, {2, 4}, second_step);
  for (const auto& rank : ranks)
    EXPECT_EQ(numbers(rank.values.at(mask)),
              numbers(contract::evaluate(graph, feeds, second_step).at(mask)));
}

// Also one rank has samples that are not the first: those of the second pass of a batch.
TEST(RandomNumbers, OfOneSampleOfManyBeginThere) {
  Graph one;
  const ValueId x = one.add_value("x", {DType::f64, {1, tokens, width}}, {Base::inputs, 0});
  one.batch = {x};
  const ValueId rows = one.add1(ops::reshape, {x}, {{"shape", Shape{-1, width}}});
  const ValueId y = one.add1(ops::dropout, {rows}, {{"rate", 0.5}});
  count_sample_rows(one);
  const Graph all = dropped({-1, width});
  const contract::Values feeds = contract::random_feeds(all);
  const std::vector<double> whole =
      numbers(contract::evaluate(all, feeds, second_step).at(all.outputs[0]));
  StepState fourth = second_step;
  fourth.origins[StepState::samples] = 3;
  const contract::Values own{{x, contract::rows_of(feeds.at(x), 3, 4)}};
  EXPECT_EQ(
      numbers(contract::evaluate(one, own, fourth).at(y)),
      std::vector<double>(whole.begin() + 3 * tokens * width, whole.begin() + 4 * tokens * width));
}

TEST(RandomNumbers, NeedWholeRowsOfEachSample) {
  Graph graph;
  graph.batch = {graph.add_value("x", {DType::f64, {6, 2}}, {Base::inputs, 0})};
  const ValueId pairs = graph.add1(ops::reshape, {graph.batch[0]}, {{"shape", Shape{-1, 4}}});
  graph.add1(ops::dropout, {pairs});
  expect_error([&] { count_sample_rows(graph); }, {"[dropout]", "3 rows of 6 samples"});
}

}  // namespace
}  // namespace tutti
