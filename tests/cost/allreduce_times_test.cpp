// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/allreduce_times.h"

#include "tutti/comm/threads/threads.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

std::vector<AllreduceTime> times_of(const List<Collective>& list, const AllreduceSweep& sweep) {
  std::vector<AllreduceTime> all;
  run_ranks(2, [&](Communicator& communicator) {
    time_allreduces(communicator, list, sweep, [&](const std::vector<AllreduceTime>& times) {
      all.insert(all.end(), times.begin(), times.end());
    });
  });
  return all;
}

TEST(AllreduceTimes, EveryAlgorithmThatWorksAtEverySize_K05) {
  const auto times = times_of(
      allreduces(),
      {.least_bytes = 8, .most_bytes = 600, .factor = 8, .rounds = 3, .round_seconds = 1e-5});
  std::size_t working = 1;  // auto
  for (const Collective& one : allreduces())
    if (one.supports(*thread_communicators(2).front())) ++working;
  ASSERT_EQ(times.size(), 3 * working);
  for (const AllreduceTime& time : times) {
    EXPECT_EQ(time.elements, time.bytes / 4);
    EXPECT_EQ(time.seconds.size(), 3u);
    EXPECT_GT(median_of(time.seconds), 0);
    EXPECT_GT(time.predicted_seconds, 0) << time.algorithm;
  }
  EXPECT_EQ(times.back().algorithm, "auto");
  EXPECT_EQ(times.back().chosen, "direct");
  EXPECT_EQ(times.back().bytes, 512);
}

TEST(AllreduceTimes, OfEveryTypeThatIsAdded) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const AllreduceTime& time : times_of(allreduces(), {.least_bytes = 64,
                                                            .most_bytes = 64,
                                                            .dtype = dtype,
                                                            .rounds = 1,
                                                            .round_seconds = 1e-5})) {
      EXPECT_EQ(time.dtype, dtype);
      EXPECT_EQ(time.elements, 64 / bytes_of(dtype));
    }
}

TEST(AllreduceTimes, AWrongSumIsAnError) {
  class Nothing final : public Operation {
    void start(void*) override {}
    bool advance() override { return true; }
  };
  Collective wrong = allreduces().find("ring");
  wrong.name = "wrong";
  wrong.make = [](Communicator&, const CollectiveArgs&) { return std::make_unique<Nothing>(); };
  expect_error(
      [&] {
        times_of({"allreduce", {wrong}}, {.most_bytes = 4});
      },
      {"allreduce wrong of 1 elements", "sum 0 is", "expected 3"});
}

// 2(P−1)/P · bytes / time, as collective benchmarks count it.
TEST(AllreduceTimes, BusBandwidth) {
  EXPECT_DOUBLE_EQ(
      bus_bytes_per_second({.algorithm = "", .chosen = "", .ranks = 4, .bytes = 1000}, 0.5), 3000);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace tutti
