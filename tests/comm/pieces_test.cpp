// SPDX-License-Identifier: Apache-2.0
// Long messages in pieces: the same sums, in the same order where it is fixed, in more messages.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"
#include "contract/collective_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tutti {
namespace {

template <class T>
void expect_sums_in_pieces(DType dtype) {
  for (const Collective& entry : allreduces())
    for (const int ranks : {1, 2, 3, 5, 8})
      for (const bool fixed_order : {false, true})
        for (const std::int64_t count : {0, 1, 17, 1000, 4099}) {
          if (!entry.schedule) continue;
          std::atomic<int> wrong = 0;
          run_ranks(ranks, [&](Communicator& threads) {
            CountingCommunicator comm(threads, {.pieces = 64});
            const auto value = fixed_order ? rough<T> : whole<T>;
            const auto expected = sum_in_rank_order<T>(ranks, count, value);
            const auto operation = entry.make(comm, {dtype, count, 3, fixed_order, 2});
            for (int round = 0; round < 2; ++round) {
              auto data = vector_of<T>(comm.rank(), count, value);
              operation->start(data.data());
              wait(*operation, comm);
              if (count > 0 && std::memcmp(data.data(), expected.data(), count * sizeof(T)) != 0)
                ++wrong;
            }
          });
          EXPECT_EQ(wrong, 0) << entry.name << " of " << count << " on " << ranks;
        }
}

TEST(Pieces, EveryAllreduceSumsAsWithoutThem_D02) {
  expect_sums_in_pieces<float>(DType::f32);
  expect_sums_in_pieces<Bf16>(DType::bf16);
}

TEST(Pieces, AreAsLongAsTheTransportSays) {
  run_ranks(2, [&](Communicator& threads) {
    CountingCommunicator comm(threads, {.pieces = 400});
    std::vector<float> data(1010, 1);  // in two steps of 505: five pieces of 100 and one of 5 each
    const auto operation = allreduces().find("ring").make(comm, {.count = 1010});
    operation->start(data.data());
    wait(*operation, comm);
    EXPECT_EQ(data, std::vector<float>(1010, 2));
    EXPECT_EQ(comm.messages, 12);
    EXPECT_EQ(comm.bytes, 2 * 505 * 4);
  });
}

// C03: what is urgent overtakes the pieces that have not left, though others make room for them.
TEST(Pieces, OfAnUrgentOperationGoFirst) {
  run_ranks(2, [&](Communicator& threads) {
    CountingCommunicator comm(threads, {.pieces = 4});
    std::vector<float> much(200, 1), little(40, 1);
    const auto ring = allreduces().find("ring");
    const auto patient = ring.make(comm, {.count = 200, .tag = 1, .urgency = 2});
    const auto urgent = ring.make(comm, {.count = 40, .tag = 2, .urgency = 1});
    patient->start(much.data());
    urgent->start(little.data());
    wait(*patient, comm);
    wait(*urgent, comm);
    EXPECT_EQ(much, std::vector<float>(200, 2));
    EXPECT_EQ(little, std::vector<float>(40, 2));
    // The first half of the urgent sum, while nothing that it needs is missing.
    const auto first = std::find(comm.tags.begin(), comm.tags.end(), 2);
    EXPECT_LT(first - comm.tags.begin(), 20);
    EXPECT_EQ(std::vector<int>(first, first + 20), std::vector<int>(20, 2));
  });
}

// A peer that comes to the patient one only behind the urgent one is not waited for in vain.
TEST(Pieces, ThatAreStuckDoNotKeepOthersBack) {
  run_ranks(2, [&](Communicator& threads) {
    CountingCommunicator comm(threads, {.pieces = 4});
    comm.set_patience(10);
    std::vector<float> much(200, 1), little(40, 1);
    const auto ring = allreduces().find("ring");
    const auto patient = ring.make(comm, {.count = 200, .tag = 1, .urgency = 2});
    const auto urgent = ring.make(comm, {.count = 40, .tag = 2, .urgency = 1});
    if (comm.rank() == 0) patient->start(much.data());
    urgent->start(little.data());
    wait(*urgent, comm);
    if (comm.rank() == 1) patient->start(much.data());
    wait(*patient, comm);
    EXPECT_EQ(much, std::vector<float>(200, 2));
    EXPECT_EQ(little, std::vector<float>(40, 2));
  });
}

}  // namespace
}  // namespace tutti
