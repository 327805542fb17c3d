// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/virtual_ranks.h"

#include "tutti/comm/collectives/collective.h"

#include "comm/virtual_tasks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::sim {
namespace {

// L = 1 µs, G = 0.1 ns per byte.
const LinkCost slow_link{1e-6, 1e-10};

std::shared_ptr<const MatchedSchedule> schedule(const std::string& name, int ranks,
                                                std::int64_t count) {
  return std::make_shared<MatchedSchedule>(
      matched(allreduces().find(name).schedule({ranks, count, DType::f32}, false)));
}

double latest(const std::vector<RankTimes>& ranks) {
  double end = 0;
  for (const RankTimes& rank : ranks) end = std::max(end, rank.end);
  return end;
}

TEST(EventQueue, KeepsTheOrderOfWhatHappensAtOnce) {
  EventQueue<int> events;
  events.add(2, 1);
  for (int k = 2; k < 50; ++k) events.add(1, k);
  for (int k = 2; k < 50; ++k) {
    EXPECT_EQ(events.next_seconds(), 1);
    EXPECT_EQ(events.take(), k);
  }
  EXPECT_EQ(events.take(), 1);
  EXPECT_TRUE(events.empty());
}

TEST(VirtualRanks, TakeTheTimesOfTheFormulas_K04_D02_D03_D04_D05) {
  for (const int ranks : {2, 4, 16, 64, 1024}) {
    const double log2 = std::log2(ranks);
    for (const std::int64_t bytes : {4096, 1 << 20}) {
      const auto all = static_cast<double>(bytes);
      const double volume = all * (ranks - 1) / ranks * 1e-10;
      const auto seconds = [&](const std::string& name) {
        VirtualRanks virtual_ranks(ranks, slow_link);
        const int sum = virtual_ranks.add({{schedule(name, ranks, bytes / 4)}});
        return latest(run_tasks(virtual_ranks, ranks, {{Task::start, sum}, {Task::wait, sum}}));
      };
      EXPECT_NEAR(seconds("tree"), 2 * log2 * (1e-6 + all * 1e-10), 1e-12);
      EXPECT_NEAR(seconds("butterfly"), log2 * (1e-6 + all * 1e-10), 1e-12);
      EXPECT_NEAR(seconds("rabenseifner"), 2 * (log2 * 1e-6 + volume), 1e-12);
      if (ranks > 64) continue;
      EXPECT_NEAR(seconds("ring"), 2 * (ranks - 1) * (1e-6 + all / ranks * 1e-10), 1e-12);
    }
  }
}

TEST(VirtualRanks, MessagesHideBehindComputing) {
  const std::int64_t bytes = 1 << 20;
  const double sum_seconds = 2 * (2e-6 + 0.75 * bytes * 1e-10);  // of 4 ranks by rabenseifner
  const auto run = [&](double computing) {
    VirtualRanks ranks(4, slow_link);
    const int sum = ranks.add({{schedule("rabenseifner", 4, bytes / 4)}});
    return run_tasks(ranks, 4,
                     {{Task::start, sum}, {Task::compute, 0, computing}, {Task::wait, sum}});
  };
  for (const RankTimes& rank : run(1)) {
    EXPECT_DOUBLE_EQ(rank.end, 1);
    EXPECT_EQ(rank.waiting, 0);
    EXPECT_DOUBLE_EQ(rank.bytes_sent, 1.5 * bytes);
  }
  for (const RankTimes& rank : run(1e-5)) {
    EXPECT_NEAR(rank.end, sum_seconds, 1e-12);
    EXPECT_NEAR(rank.waiting, sum_seconds - 1e-5, 1e-12);
  }
}

TEST(VirtualRanks, TwoOperationsShareThePorts) {
  VirtualRanks ranks(2, LinkCost{0, 1e-10});
  const int first = ranks.add({{schedule("butterfly", 2, 1000)}});
  const int second = ranks.add({{schedule("butterfly", 2, 1000)}});
  EXPECT_NEAR(latest(run_tasks(ranks, 2,
                               {{Task::start, first},
                                {Task::start, second},
                                {Task::wait, second},
                                {Task::wait, first}})),
              8000 * 1e-10, 1e-15);
}

// Of two sums that wait for the line the one started last goes first, if it is the more urgent.
TEST(VirtualRanks, WhatIsUrgentOvertakes) {
  constexpr double seconds = 4000 * 1e-10;  // of a sum
  VirtualRanks ranks(2, LinkCost{0, 1e-10});
  const int under_way = ranks.add({{schedule("butterfly", 2, 1000)}, 0, 9});
  const int patient = ranks.add({{schedule("butterfly", 2, 1000)}, 0, 8});
  const int urgent = ranks.add({{schedule("butterfly", 2, 1000)}, 0, 1});
  const auto times = run_tasks(ranks, 2,
                               {{Task::start, under_way},
                                {Task::start, patient},
                                {Task::start, urgent},
                                {Task::wait, urgent},
                                {Task::compute, 0, 1},
                                {Task::wait, patient},
                                {Task::wait, under_way}});
  for (const RankTimes& rank : times) {
    EXPECT_NEAR(rank.waiting, 2 * seconds, 1e-15);
    EXPECT_NEAR(rank.end, 1 + 2 * seconds, 1e-12);
    EXPECT_DOUBLE_EQ(rank.bytes_sent, 12000);
  }
}

// A message that waits for the port of a busy receiver keeps its sender from nobody else.
TEST(VirtualRanks, AFreePortIsUsed) {
  VirtualRanks ranks(3, LinkCost{0, 1});
  enum { busy, blocked, free };
  std::vector<int> sends(3), receives(3);
  for (int k = 0; k < 3; ++k) {
    sends[static_cast<std::size_t>(k)] = ranks.add_single();
    receives[static_cast<std::size_t>(k)] = ranks.add_single();
  }
  const auto start = [&](int message, bool is_sender, int rank, int peer, double bytes) {
    ranks.start_single((is_sender ? sends : receives)[static_cast<std::size_t>(message)], rank,
                       {.message = message, .sends = is_sender, .peer = peer, .bytes = bytes});
  };
  std::vector<int> begun(3);
  const auto times = ranks.run([&](int rank) {
    if (begun[static_cast<std::size_t>(rank)]++ == 0) {
      if (rank == 0) start(busy, true, 0, 1, 5);
      if (rank == 1) start(busy, false, 1, 0, 5);
      if (rank == 1) start(blocked, false, 1, 2, 1);
      if (rank == 1) start(free, true, 1, 2, 2);
      if (rank == 2) start(blocked, true, 2, 1, 1);
      if (rank == 2) start(free, false, 2, 1, 2);
    }
    const int last = rank == 2 ? receives[free] : rank == 1 ? receives[busy] : sends[busy];
    if (!ranks.is_ready(last, rank)) return ranks.wait(rank, last);
    ranks.end(rank);
  });
  EXPECT_EQ(times[1].end, 5);
  EXPECT_EQ(times[2].end, 2);
}

// Two sums at once, of rows and then of columns of a mesh.
TEST(VirtualRanks, GroupsSumByThemselves) {
  const Mesh mesh({{"stage", 2}, {"data", 3}});
  const auto groups = [&](const char* axis) {
    return std::make_shared<RankGroups>(groups_along(mesh, {axis}));
  };
  VirtualRanks ranks(6, LinkCost{1, 0}, {.slow = {{5, 3.0}}});
  const auto ring = schedule("ring", 3, 3), butterfly = schedule("butterfly", 2, 3);
  const int rows = ranks.add({{ring, ring}, 0, 0, groups("data")});
  const int columns = ranks.add({{butterfly, butterfly, butterfly}, 0, 0, groups("stage")});
  const auto times = run_tasks(ranks, 6,
                               {{Task::compute, 0, 1},
                                {Task::start, rows},
                                {Task::wait, rows},
                                {Task::start, columns},
                                {Task::wait, columns}});
  // Ranks 3, 4 and 5 are a row, which waits for rank 5; columns then wait for that row.
  for (const RankTimes& rank : times) EXPECT_EQ(rank.end, 3 + 4 + 1);
  EXPECT_EQ(times[0].waiting, 4 + 3);
}

// A rank that waits has its core free for messages; one that computes takes longer.
TEST(VirtualRanks, HandlingMessagesTakesFromComputing) {
  LinkCost link{0, 1e-10};
  link.handling_seconds_per_byte = 1e-9;
  VirtualRanks ranks(2, link);
  const int sum = ranks.add({{schedule("butterfly", 2, 1000)}});
  for (const RankTimes& rank : run_tasks(ranks, 2,
                                         {{Task::start, sum},
                                          {Task::compute, 0, 1},
                                          {Task::wait, sum},
                                          {Task::start, sum},
                                          {Task::wait, sum}})) {
    EXPECT_NEAR(rank.computing, 1 + 2 * 4000 * 1e-9, 1e-12);  // sent and received
    EXPECT_NEAR(rank.end, rank.computing + 4000 * 1e-10, 1e-12);
  }
}

TEST(VirtualRanks, WaitForTheSlowest) {
  VirtualRanks ranks(8, slow_link, {.slow = {{5, 3.0}}});
  const int sum = ranks.add({{schedule("butterfly", 8, 1)}});
  const auto times =
      run_tasks(ranks, 8, {{Task::compute, 0, 1}, {Task::start, sum}, {Task::wait, sum}}, 4);
  EXPECT_NEAR(latest(times), 4 * (3 + 3 * (1e-6 + 4e-10)), 1e-4);
  EXPECT_NEAR(times[5].computing, 12, 1e-12);
  EXPECT_NEAR(times[0].computing, 4, 1e-12);
  EXPECT_NEAR(times[0].waiting, 8, 1e-4);
}

TEST(VirtualRanks, AMeetingTakesEachRanksOwnTime) {
  VirtualRanks ranks(2, slow_link, {.slow = {{1, 2.0}}});
  const int sum = ranks.add({{}, 0.25});
  const auto times = run_tasks(
      ranks, 2,
      {{Task::compute, 0, 1}, {Task::start, sum}, {Task::compute, 0, 0.5}, {Task::wait, sum}}, 2);
  // Rank 1: 2 + 1, then 0.5 twice; rank 0 meets it at 2 and, in the second round, at 5.5.
  EXPECT_DOUBLE_EQ(times[1].end, 7);
  EXPECT_DOUBLE_EQ(times[0].end, 5.75);
}

TEST(VirtualRanks, AreTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    VirtualRanks ranks(5, slow_link, {.jitter = 0.1, .seed = seed});
    const int sum = ranks.add({{schedule("ring", 5, 1000)}});
    std::vector<Span> spans;
    ranks.set_observer([&](const Span& span) { spans.push_back(span); });
    run_tasks(ranks, 5, {{Task::compute, 0, 1e-5}, {Task::start, sum}, {Task::wait, sum}}, 3);
    std::vector<double> numbers;
    for (const Span& span : spans) numbers.insert(numbers.end(), {span.begin, span.seconds});
    return numbers;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(VirtualRanks, ThatWaitForEachOtherForEverAreFound) {
  VirtualRanks ranks(2, slow_link);
  collectives::Schedule schedule{{2, 1, DType::f32}, {}};
  using collectives::Action;
  for (const int rank : {0, 1})  // each receives before it sends
    schedule.ranks.push_back(
        {{0, Action::receive, 1 - rank, {0, 1}}, {1, Action::send, 1 - rank, {0, 1}}});
  const int stuck = ranks.add({{std::make_shared<MatchedSchedule>(matched(schedule))}});
  EXPECT_THROW(run_tasks(ranks, 2, {{Task::start, stuck}, {Task::wait, stuck}}), std::logic_error);
}

TEST(MatchedSchedule, FindsMessagesWithoutCounterpart) {
  using collectives::Action;
  const Action send{0, Action::send, 1, {0, 4}};
  EXPECT_THROW(matched({{2, 4, DType::f32}, {{send}, {}}}), std::logic_error);
  EXPECT_THROW(matched({{2, 4, DType::f32}, {{send}, {{0, Action::receive, 0, {0, 3}}}}}),
               std::logic_error);
  EXPECT_THROW(matched({{2, 4, DType::f32}, {{{0, Action::send, 0, {0, 4}}}, {}}}),
               std::logic_error);
}

}  // namespace
}  // namespace tutti::sim
