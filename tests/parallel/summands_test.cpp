// SPDX-License-Identifier: Apache-2.0
// A rank's summand and a value that every rank has whole meet in one operator: the whole one counts
// once, however many ranks there are.
#include "tutti/ops/add.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/concatenate.h"
#include "tutti/ops/scale.h"

#include "expect_error.h"
#include "parallel/run_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

// x[6,3] is the batch, w[3] is whole, and Σ_n x is a summand of w's shape on every rank.
struct Meeting {
  Graph graph;
  ValueId x = graph.add_value("x", {DType::f64, {6, 3}}, {Base::inputs, 0});
  ValueId w = graph.add_value("w", {DType::f64, {3}}, {Base::weights, 0});
  ValueId sum = no_value;

  Meeting() {
    graph.batch = {x};
    sum = graph.add1(ops::bias_grad, {x});
  }

  // `made` is read by the host.
  void end_in(ValueId made) {
    graph.value(made).place = {Base::results, 0};
    graph.results = {made};
  }
  std::int64_t messages(const Graph& cut) const {
    return std::count_if(cut.nodes.begin(), cut.nodes.end(),
                         [](const Node& node) { return node.op == &ops::allreduce; });
  }
  // On every rank of 1, 2 and 3 (of which one has more samples) what one rank alone computes.
  void expect_equal(std::int64_t expected_messages) const {
    const contract::Values feeds = contract::random_feeds(graph);
    const contract::Array expected = contract::evaluate(graph, feeds).at(graph.results[0]);
    for (const std::vector<std::int64_t>& shares :
         {std::vector<std::int64_t>{3, 3}, {1, 3, 2}, {2, 4}})
      for (const contract::RankRun& rank : contract::run_ranks(graph, feeds, shares)) {
        EXPECT_LT(contract::difference(rank.values.at(rank.graph.results[0]), expected), 1e-14)
            << shares.size() << " ranks";
        EXPECT_EQ(messages(rank.graph), expected_messages);
      }
  }
};

TEST(Summands, AWholeOperandOfASumCountsOnce) {
  Meeting meeting;
  meeting.end_in(meeting.graph.add1(ops::add, {meeting.sum, meeting.w}));
  meeting.expect_equal(1);
  Meeting other;
  other.end_in(other.graph.add1(ops::add, {other.w, other.sum}));
  other.expect_equal(1);
}

TEST(Summands, AWholeOperandBesideThemCountsOnce) {
  Meeting meeting;
  const ValueId both =
      meeting.graph.add1(ops::concatenate, {meeting.sum, meeting.w}, {{"axis", std::int64_t{0}}});
  meeting.end_in(meeting.graph.add1(ops::scale, {both}, {{"factor", 3.0}}));
  meeting.expect_equal(1);
}

TEST(Summands, ABiasOfThemCountsOnce) {
  Meeting meeting;
  const ValueId scaled = meeting.graph.add1(ops::scale, {meeting.sum}, {{"factor", -0.5}});
  meeting.end_in(meeting.graph.add1(ops::bias, {scaled, meeting.w}, {{"axis", std::int64_t{0}}}));
  meeting.expect_equal(1);
}

TEST(Summands, AmongThemselvesAreSummedOnceAtTheEnd) {
  Meeting meeting;
  const ValueId scaled = meeting.graph.add1(ops::scale, {meeting.sum}, {{"factor", -0.5}});
  meeting.end_in(meeting.graph.add1(ops::add, {meeting.sum, scaled}));
  meeting.expect_equal(1);
}

// Every rank would add all rows of one operand to its own rows of the other.
TEST(Summands, AWholeOperandAlongTheSamplesIsRefused) {
  Meeting meeting;
  const ValueId table = meeting.graph.add_value("table", {DType::f64, {6, 3}}, {Base::weights, 24});
  meeting.graph.scope = "adder";
  meeting.graph.add1(ops::add, {meeting.x, table});
  expect_error([&] { partition_samples(meeting.graph, 6, 2); }, {"adder", "table", "samples"});
}

}  // namespace
}  // namespace tutti
