// SPDX-License-Identifier: Apache-2.0
// Every entry of the lists that only move data: 1 to 9 ranks, blocks of 0, 1 and odd sizes, started
// several times, whatever the type.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/threads/threads.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tutti {
namespace {

const std::vector<std::int64_t> counts = {0, 1, 7, 1001};

// Element i of rank's vector.
std::int32_t given(int rank, std::int64_t i) {
  return static_cast<std::int32_t>(100000 * rank + i);
}

// `expected(rank, i)` is what element i of `elements(ranks, rank, count)` should become.
void expect_moves(
    const Collective& entry, const std::function<std::int64_t(int, int, std::int64_t)>& elements,
    const std::function<std::int32_t(int, int, std::int64_t, std::int64_t)>& expected) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    run_ranks(ranks, [&](Communicator& comm) {
      for (const std::int64_t count : counts) {
        const std::int64_t all = elements(ranks, comm.rank(), count);
        const auto operation =
            entry.make(comm, {DType::i32, entry.name == "pairwise" ? all : count, 3, false});
        std::vector<std::int32_t> data(all);
        for (int round = 0; round < 3; ++round) {
          for (std::int64_t i = 0; i < all; ++i) data[i] = given(comm.rank(), i);
          operation->start(data.data());
          wait(*operation, comm);
          for (std::int64_t i = 0; i < all; ++i)
            ASSERT_EQ(data[i], expected(ranks, comm.rank(), count, i))
                << entry.name << ": rank " << comm.rank() << " of " << ranks << ", element " << i;
        }
      }
    });
}

TEST(Broadcasts, BringTheVectorOfRankZero) {
  for (const Collective& entry : broadcasts())
    expect_moves(
        entry, [](int, int, std::int64_t count) { return count; },
        [](int, int, std::int64_t, std::int64_t i) { return given(0, i); });
}

TEST(AllToAlls, TransposeTheBlocks) {
  for (const Collective& entry : all_to_alls())
    expect_moves(
        entry, [](int ranks, int, std::int64_t count) { return ranks * count; },
        [](int, int rank, std::int64_t count, std::int64_t i) {
          return given(static_cast<int>(i / count), rank * count + i % count);
        });
}

TEST(NeighbourExchanges, BringTheBlocksOfTheNeighbours_D08) {
  for (const Collective& entry : neighbour_exchanges())
    expect_moves(
        entry,
        [](int ranks, int rank, std::int64_t count) {
          return count *
                 (1 + static_cast<std::int64_t>(collectives::ring_neighbours(ranks, rank).size()));
        },
        [](int ranks, int rank, std::int64_t count, std::int64_t i) {
          if (i < count) return given(rank, i);
          const auto neighbours = collectives::ring_neighbours(ranks, rank);
          return given(neighbours[i / count - 1], i % count);
        });
}

}  // namespace
}  // namespace tutti
