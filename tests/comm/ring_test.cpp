// SPDX-License-Identifier: Apache-2.0
// The volume and the predicted time of the ring (D04), and of its fixed-order chain.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tutti {
namespace {

struct Sent {
  std::vector<std::int64_t> elements;
  std::vector<int> messages;
};

// What each rank sends in one allreduce of `count` floats, which sums correctly.
Sent sent_by(int ranks, std::int64_t count, bool fixed_order) {
  Sent sent{std::vector<std::int64_t>(ranks), std::vector<int>(ranks)};
  run_ranks(ranks, [&](Communicator& threads) {
    CountingCommunicator comm(threads);
    std::vector<float> data(count, static_cast<float>(comm.rank() + 1));
    const auto operation = collectives::ring().make(comm, {DType::f32, count, 0, fixed_order});
    operation->start(data.data());
    wait(*operation, comm);
    EXPECT_EQ(data, std::vector<float>(count, static_cast<float>(ranks * (ranks + 1) / 2)));
    sent.elements[comm.rank()] = comm.bytes / 4;
    sent.messages[comm.rank()] = comm.messages;
  });
  return sent;
}

TEST(Ring, EachRankSendsTwoMTimesPMinusOneOverP_D04) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const std::int64_t count = 100 * ranks;
    const Sent sent = sent_by(ranks, count, false);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(sent.elements[rank], 2 * count * (ranks - 1) / ranks);
      EXPECT_EQ(sent.messages[rank], 2 * (ranks - 1));
    }
  }
}

TEST(Ring, TotalVolumeIsTheSameWhenNotDivisible_D04) {
  for (const std::int64_t count : {1, 5, 101}) {
    std::int64_t total = 0;
    for (const std::int64_t elements : sent_by(7, count, false).elements) total += elements;
    EXPECT_EQ(total, 2 * count * 6);
  }
}

TEST(Ring, InFixedOrderEachRankSendsTheVectorOnceEachWay) {
  const std::int64_t count = 100000;  // 400,000 bytes: 7 segments
  const Sent sent = sent_by(4, count, true);
  EXPECT_EQ(sent.elements, (std::vector<std::int64_t>{count, 2 * count, 2 * count, count}));
  EXPECT_EQ(sent.messages, (std::vector<int>{7, 14, 14, 7}));
}

TEST(Ring, PredictedTimeIsTheFormula_D04) {
  const LinkCost link{1e-6, 1e-10};
  // 2(P−1)(L + m/P·G): 14 · (1 µs + 125,000 · 0.1 ns) = 189 µs
  EXPECT_NEAR(collectives::ring().seconds(link, 8, 1000000, false), 189e-6, 1e-12);
  // 14 + 16 − 1 steps of 1 µs + 62,500 · 0.1 ns
  EXPECT_NEAR(collectives::ring().seconds(link, 8, 1000000, true), 29 * 7.25e-6, 1e-12);
}

}  // namespace
}  // namespace tutti
