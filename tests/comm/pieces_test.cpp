// SPDX-License-Identifier: Apache-2.0
// Long messages in pieces: the same sums, in the same order where it is fixed, in more messages.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"
#include "contract/collective_inputs.h"

#include <gtest/gtest.h>

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
            CountingCommunicator comm(threads);
            comm.pieces = 64;
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
    CountingCommunicator comm(threads);
    comm.pieces = 400;
    std::vector<float> data(1010, 1);  // in two steps of 505: five pieces of 100 and one of 5 each
    const auto operation = allreduces().find("ring").make(comm, {.count = 1010});
    operation->start(data.data());
    wait(*operation, comm);
    EXPECT_EQ(data, std::vector<float>(1010, 2));
    EXPECT_EQ(comm.messages, 12);
    EXPECT_EQ(comm.bytes, 2 * 505 * 4);
  });
}

}  // namespace
}  // namespace tutti
