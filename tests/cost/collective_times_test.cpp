// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/collective_times.h"

#include "tutti/comm/threads/threads.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

CollectiveKind kind_named(const std::string& name) { return collective_kinds().find(name); }

std::vector<CollectiveTime> times_of(const CollectiveKind& kind, const CollectiveSweep& sweep,
                                     int ranks = 2) {
  std::vector<CollectiveTime> all;
  run_ranks(ranks, [&](Communicator& communicator) {
    time_collectives(communicator, kind, sweep, [&](const std::vector<CollectiveTime>& times) {
      all.insert(all.end(), times.begin(), times.end());
    });
  });
  return all;
}

TEST(CollectiveTimes, EveryAlgorithmThatWorksAtEverySize_D01_D08_K05) {
  for (const CollectiveKind& kind : collective_kinds())
    for (const int ranks : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} of {} ranks", kind.name, ranks));
      const auto times = times_of(
          kind,
          {.least_bytes = 24, .most_bytes = 600, .factor = 8, .rounds = 3, .round_seconds = 1e-5},
          ranks);
      std::size_t working = 1;  // auto
      for (const Collective& one : kind.list)
        if (one.supports(thread_communicators(2).front()->facts())) ++working;
      ASSERT_EQ(times.size(), 2 * working);
      for (const CollectiveTime& time : times) {
        EXPECT_EQ(time.elements, time.bytes / 4);
        EXPECT_EQ(time.seconds.size(), 3u);
        EXPECT_GT(median_of(time.seconds), 0);
        EXPECT_EQ(time.predicted_seconds > 0, ranks > 1) << time.algorithm;
        if (time.bound_seconds) {
          EXPECT_GE(time.predicted_seconds, *time.bound_seconds * (1 - 1e-12)) << time.algorithm;
        }
      }
      EXPECT_EQ(times.back().algorithm, "auto");
      EXPECT_EQ(times.back().bytes, 192);
    }
}

TEST(CollectiveTimes, AutoIsWhatSharedMemoryHas) {
  const auto times =
      times_of(kind_named("allreduce"), {.most_bytes = 4, .rounds = 1, .round_seconds = 1e-5});
  EXPECT_EQ(times.back().chosen, "direct");
  EXPECT_FALSE(times.back().bound_seconds);  // it sends no messages
}

TEST(CollectiveTimes, OfEveryType) {
  for (const CollectiveKind& kind : collective_kinds())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
      for (const CollectiveTime& time : times_of(kind, {.least_bytes = 96,
                                                       .most_bytes = 96,
                                                       .dtype = dtype,
                                                       .rounds = 1,
                                                       .round_seconds = 1e-5})) {
        EXPECT_EQ(time.dtype, dtype);
        EXPECT_EQ(time.elements, 96 / bytes_of(dtype));
      }
}

// Of each kind, one that does nothing.
TEST(CollectiveTimes, AWrongResultIsAnError) {
  class Nothing final : public Operation {
    void start(void*) override {}
    bool advance() override { return true; }
  };
  for (const CollectiveKind& kind : collective_kinds()) {
    Collective wrong = *kind.list.begin();
    wrong.name = "wrong";
    wrong.supports = [](const TransportFacts&) { return true; };
    wrong.make = [](const Group&, const CollectiveArgs&) { return std::make_unique<Nothing>(); };
    CollectiveKind broken = kind;
    broken.list = {kind.name, {wrong}};
    const std::string says = fmt::format("{} wrong of 40 elements", kind.name);
    expect_error([&] { times_of(broken, {.least_bytes = 160, .most_bytes = 160}); },
                 {says.c_str(), "element ", "expected "});
  }
}

// As collective benchmarks count it: 2(P−1)/P, 1, (P−1)/P of bytes / time; from each neighbour.
TEST(CollectiveTimes, BusBandwidth) {
  const CollectiveTime time{.algorithm = "", .chosen = "", .ranks = 4, .bytes = 1000};
  const auto bus = [&](const char* kind) {
    return bus_bytes_per_second(kind_named(kind), time, 0.5);
  };
  EXPECT_DOUBLE_EQ(bus("allreduce"), 3000);
  EXPECT_DOUBLE_EQ(bus("reduce"), 2000);
  EXPECT_DOUBLE_EQ(bus("broadcast"), 2000);
  EXPECT_DOUBLE_EQ(bus("reduce-scatter"), 1500);
  EXPECT_DOUBLE_EQ(bus("allgather"), 1500);
  EXPECT_DOUBLE_EQ(bus("all-to-all"), 1500);
  EXPECT_DOUBLE_EQ(bus("neighbour-exchange"), 4000);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace tutti
