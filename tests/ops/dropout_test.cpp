// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/dropout.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tutti::ops {
namespace {

Argument ones(std::int64_t samples, std::int64_t features) {
  return {{samples, features},
          std::vector<double>(static_cast<std::size_t>(samples * features), 1)};
}

TEST(Dropout, B36MeanStays) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const auto y = run(dropout, {ones(1000, 100)}, {{"rate", rate}}, {.key = 7}, 3);
    const double mean = std::accumulate(y.begin(), y.end(), 0.0) / 1e5;
    const double kept =
        static_cast<double>(std::count_if(y.begin(), y.end(), [](double v) { return v > 0; })) /
        1e5;
    EXPECT_NEAR(mean, 1, rate == 0.9 ? 0.03 : 0.01) << rate;  // the deviation at 0.9 is 0.0095
    EXPECT_NEAR(kept, 1 - rate, 0.01);
  }
}

TEST(Dropout, B36SameMaskWhenComputedAgain) {
  const Settings settings{{"rate", 0.5}};
  const auto y = run(dropout, {ones(10, 10)}, settings, {.key = 7}, 3);
  EXPECT_EQ(run(dropout, {ones(10, 10)}, settings, {.key = 7}, 3), y);
  EXPECT_NE(run(dropout, {ones(10, 10)}, settings, {.key = 8}, 3), y) << "another step";
  EXPECT_NE(run(dropout, {ones(10, 10)}, settings, {.key = 7}, 4), y) << "another node";
}

TEST(Dropout, B36SameMaskWhenTheBatchIsSplit) {
  const Settings settings{{"rate", 0.3}};
  const auto whole = run(dropout, {ones(10, 7)}, settings, {.key = 7}, 3);
  auto parts = run(dropout, {ones(6, 7)}, settings, {.key = 7}, 3);
  const auto second = run(dropout, {ones(4, 7)}, settings, {.key = 7, .origins = {6}}, 3);
  parts.insert(parts.end(), second.begin(), second.end());
  EXPECT_EQ(parts, whole);
}

TEST(Dropout, B36RowsOfSeveralTokensBeginWhereTheirSampleDoes) {
  const Settings settings{{"rate", 0.3}, {"sample_rows", std::int64_t{5}}};
  const auto whole = run(dropout, {ones(20, 7)}, settings, {.key = 7}, 3);
  const auto last = run(dropout, {ones(5, 7)}, settings, {.key = 7, .origins = {3}}, 3);
  EXPECT_EQ(last, std::vector<double>(whole.end() - 35, whole.end()));
}

TEST(Dropout, B36WhatHasNoSamplesIsTheSameOnAllRanks) {
  const Settings settings{{"rate", 0.3}, {"sample_rows", std::int64_t{0}}};
  EXPECT_EQ(run(dropout, {ones(4, 7)}, settings, {.key = 7, .origins = {3}}, 3),
            run(dropout, {ones(4, 7)}, settings, {.key = 7}, 3));
}

TEST(Dropout, B36GradientHasTheMaskOfTheNode) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {4, 4}});
  graph.add1(dropout, {x}, {{"rate", 0.2}});
  graph.add1(dropout, {x}, {{"rate", 0.3}});
  const Node node = graph.nodes[0];
  node.op->gradient(graph, node, {x});
  const Node& back = graph.nodes.back();
  EXPECT_EQ(back.op, &dropout);
  EXPECT_EQ(back.origin, node.origin);
  EXPECT_EQ(back.settings, node.settings);
}

TEST(Dropout, RateZeroKeepsAllAndOneIsRefused) {
  EXPECT_EQ(run(dropout, {ones(10, 10)}, {{"rate", 0.0}}), ones(10, 10).values);
  EXPECT_PRED2(contains, error_of(dropout, {{DType::f32, {2}}}, {{"rate", 1.0}}),
               "[dropout]: 'rate' is 1, expected 0 to 0.99");
}

}  // namespace
}  // namespace tutti::ops
