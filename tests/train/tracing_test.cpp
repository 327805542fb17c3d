// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/tracing.h"

#include "tutti/comm/self.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TracedStep traced(double began, double start, double seconds, int rank = 0) {
  return {began, {{.name = "relu", .rank = rank, .start = start, .seconds = seconds}}};
}

TEST(Tracing, TimelineIsTheMedianStep) {
  const Timeline timeline =
      median_timeline({{traced(0, 0.5, 8), traced(10, 10.5, 1), traced(20, 20.5, 3)}}, 7);
  EXPECT_EQ(timeline.step, 9);
  EXPECT_EQ(timeline.seconds, 3.5);
  EXPECT_EQ(timeline.step_seconds, (std::vector<double>{8.5, 1.5, 3.5}));
  ASSERT_EQ(timeline.events.size(), 1u);
  EXPECT_EQ(timeline.events[0].start, 0.5);
  // Of an even number the shorter one: a step that was held up says less.
  EXPECT_EQ(median_timeline({{traced(0, 0, 8), traced(10, 10, 1)}}, 0).step, 1);
}

// A step begins with the first rank; what began in the step before is no part of it.
TEST(Tracing, TimelineShowsTheFirstRanks) {
  std::vector<std::vector<TracedStep>> by_rank;
  for (int rank = 0; rank < 6; ++rank) by_rank.push_back({traced(2 - 0.1 * rank, 3, 1, rank)});
  by_rank[1][0].events.push_back({.name = "message", .rank = 1, .start = 1, .seconds = 2});
  const Timeline timeline = median_timeline(by_rank, 0);
  ASSERT_EQ(timeline.events.size(), 4u);
  EXPECT_DOUBLE_EQ(timeline.events[0].start, 1.3);
  EXPECT_EQ(timeline.events[3].rank, 3);
  EXPECT_DOUBLE_EQ(timeline.seconds, 2.3);
}

using Steps = std::pair<std::int64_t, std::int64_t>;  // [from, to)

// Those of a run that are timed.
Steps timed(const std::string& path, std::int64_t steps, std::int64_t total) {
  const auto alone = self_communicator();
  Tracing tracing(*alone, path, steps, 0, total);
  Steps range = {-1, 0};
  for (std::int64_t step = 0; step < (total > 0 ? total : 100); ++step)
    if (tracing.begin(step) != nullptr) {
      if (range.first < 0) range.first = step;
      range.second = step + 1;
    }
  return range;
}

TEST(Tracing, LeavesOutTheFirstStepsWhereThereAreOthers) {
  EXPECT_EQ(timed("", 5, 0), (Steps{2, 7}));
  EXPECT_EQ(timed("", 5, 100), (Steps{2, 7}));
  EXPECT_EQ(timed("", 5, 4), (Steps{2, 4}));
  EXPECT_EQ(timed("", 5, 1), (Steps{0, 1}));
  // A file has as many as were asked for.
  EXPECT_EQ(timed("trace.json", 3, 4), (Steps{1, 4}));
}

}  // namespace
}  // namespace tutti
