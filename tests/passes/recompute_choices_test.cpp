// SPDX-License-Identifier: Apache-2.0
// P12: the plan that a memory limit asks for, against trying all plans.
#include "tutti/passes/recompute_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tutti {
namespace {

constexpr std::int64_t unit = 256;

// Cells of uneven times and sizes; of every third the input is not read by the backward pass.
std::vector<Cell> uneven_cells(int n, int seed) {
  std::vector<Cell> cells;
  for (int i = 0; i < n; ++i)
    cells.push_back({.begin = i,
                     .end = i + 1,
                     .kept_bytes = unit * (1 + (i * 3 + seed) % 4),
                     .input_bytes = i == 0 ? 0 : unit * (1 + (i + seed) % 2),
                     .input_kept = (i + seed) % 3 != 0,
                     .seconds = 1.0 + (i * 7 + seed) % 5});
  return cells;
}

using Runs = std::vector<Recomputed>;

// Every choice of runs among the cells [first, last), at any depth; not [first, last) itself once
// more.
std::vector<Runs> all_runs(int first, int last, bool whole = false) {
  if (first == last) return {{}};
  std::vector<Runs> all = all_runs(first + 1, last);  // the first cell is kept
  for (int end = first + 1; end <= last; ++end) {
    if (whole && end == last) continue;
    for (const Runs& inner : all_runs(first, end, true))
      for (const Runs& behind : all_runs(end, last)) {
        Runs runs{{first, end, inner}};
        runs.insert(runs.end(), behind.begin(), behind.end());
        all.push_back(std::move(runs));
      }
  }
  return all;
}

double seconds_of(const std::vector<Cell>& cells, const Runs& runs) {
  double seconds = 0;
  for (const Recomputed& run : runs) {
    for (int i = run.first; i < run.last; ++i)
      seconds += cells[static_cast<std::size_t>(i)].seconds;
    seconds += seconds_of(cells, run.inner);
  }
  return seconds;
}

double least_within(const std::vector<Cell>& cells, const std::vector<RecomputePlan>& plans,
                    std::int64_t bytes) {
  double least = 1e30;
  for (const RecomputePlan& plan : plans)
    if (estimated_bytes(cells, plan) <= bytes) least = std::min(least, plan.seconds);
  return least;
}

TEST(RecomputeChoices, P12TheFrontierIsThatOfAllPlans) {
  for (int n : {1, 2, 4, 5})
    for (int seed : {0, 1, 2, 3, 4}) {
      const std::vector<Cell> cells = uneven_cells(n, seed);
      std::vector<RecomputePlan> all;
      for (Runs& runs : all_runs(0, n)) {
        const double seconds = seconds_of(cells, runs);
        all.push_back({std::move(runs), seconds});
      }
      const std::vector<RecomputePlan> frontier = recompute_frontier(cells);
      for (const RecomputePlan& plan : frontier)
        EXPECT_EQ(plan.seconds, seconds_of(cells, plan.runs)) << n << " " << seed;
      for (std::int64_t bytes = 0; bytes <= estimated_bytes(cells, {}); bytes += unit)
        EXPECT_EQ(least_within(cells, frontier, bytes), least_within(cells, all, bytes))
            << n << " cells, seed " << seed << ", " << bytes << " bytes";
    }
}

// Equal cells are what the recursion of the slots is for: no number of them does better.
TEST(RecomputeChoices, P12NoNumberOfSlotsIsCheaper) {
  for (int n : {10, 40, 96}) {
    std::vector<Cell> cells;
    for (int i = 0; i < n; ++i)
      cells.push_back({.begin = i,
                       .end = i + 1,
                       .kept_bytes = unit,
                       .input_bytes = unit,
                       .input_kept = true,
                       .seconds = 1});
    const std::vector<RecomputePlan> frontier = recompute_frontier(cells);
    for (const RecomputePlan& plan : recompute_any_slots(cells))
      EXPECT_LE(least_within(cells, frontier, estimated_bytes(cells, plan)), plan.seconds) << n;
  }
}

TEST(RecomputeChoices, LongChainsAreCutIntoGroups) {
  const std::vector<Cell> cells = uneven_cells(1000, 2);
  const std::vector<RecomputePlan> frontier = recompute_frontier(cells);
  EXPECT_GT(frontier.size(), 20u);
  EXPECT_TRUE(frontier[0].runs.empty());
  for (const RecomputePlan& plan : frontier)
    EXPECT_DOUBLE_EQ(plan.seconds, seconds_of(cells, plan.runs));
  EXPECT_LT(estimated_bytes(cells, frontier.back()), estimated_bytes(cells, {}) / 10);
}

// A step takes more than the estimate, by an amount that differs from plan to plan.
TEST(RecomputeChoices, P12TheCheapestThatFitsIsFoundInFewTries) {
  const std::vector<Cell> cells = uneven_cells(24, 1);
  const std::vector<RecomputePlan> plans = recompute_choices(cells);
  EXPECT_TRUE(std::is_sorted(plans.begin(), plans.end(),
                             [](const auto& a, const auto& b) { return a.seconds < b.seconds; }));
  const auto bytes_of = [&](std::size_t k) {
    return estimated_bytes(cells, plans[k]) + unit * static_cast<std::int64_t>(4 + k * 5 % 3);
  };
  for (std::int64_t limit = 0; limit <= bytes_of(0); limit += unit) {
    std::optional<std::size_t> expected;
    for (std::size_t k = 0; k < plans.size() && !expected; ++k)
      if (bytes_of(k) <= limit) expected = k;
    std::set<std::size_t> tried;
    const auto found = cheapest_that_fits(cells, plans, limit, [&](std::size_t k) {
      EXPECT_TRUE(tried.insert(k).second) << "each once";
      return bytes_of(k);
    });
    EXPECT_EQ(found, expected) << limit;
    EXPECT_LT(tried.size(), plans.size() * 2 / 3) << limit;
  }
}

}  // namespace
}  // namespace tutti
