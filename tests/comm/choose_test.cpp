// SPDX-License-Identifier: Apache-2.0
// The choice among collectives (K05), and what entries send when they are run.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"
#include "expect_error.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tutti {
namespace {

// Ranks that can't see each other's memory, on a network of the test's choice.
struct Far {
  explicit Far(int ranks) { facts.size = ranks, facts.network = link; }
  std::string chosen(std::int64_t bytes) {
    return choose(allreduces(), "auto", facts, {.count = bytes / 4}).name;
  }
  const LinkCost link{1e-6, 1e-10};
  TransportFacts facts;
};

TEST(Choose, TakesTheLeastPriceOfAllOnAGrid_K05) {
  for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 16, 32, 64}) {
    Far far(ranks);
    for (std::int64_t bytes = 64; bytes < 64 << 20; bytes *= 4) {
      const List<Collective> list = allreduces();
      const double chosen = list.find(far.chosen(bytes)).seconds(far.link, ranks, bytes, false);
      for (const char* name : {"tree", "butterfly", "ring", "rabenseifner"})
        EXPECT_LE(chosen, list.find(name).seconds(far.link, ranks, bytes, false))
            << ranks << " ranks, " << bytes << " bytes";
    }
  }
}

TEST(Choose, TakesTheButterflyForShortVectorsAndRabenseifnerForLongOnes_K05) {
  Far far(64);
  EXPECT_EQ(far.chosen(1024), "butterfly");
  EXPECT_EQ(far.chosen(100 * 1024), "rabenseifner");
  EXPECT_EQ(far.chosen(244000000), "rabenseifner");
}

// Between nodes the ring stays with its two peers; it must not cost more than a little.
TEST(Choose, KeepsToFewPeersBetweenNodesWherePricesAreNearlyEqual_K05) {
  Far far(4);
  EXPECT_EQ(far.chosen(16000000), "rabenseifner");
  far.facts.piece_bytes = 60 << 10;
  EXPECT_EQ(far.chosen(16000000), "ring");
  EXPECT_EQ(far.chosen(100000), "rabenseifner");
  EXPECT_EQ(far.chosen(64), "butterfly");
}

// However cheap it was when it was measured.
TEST(Choose, LeavesShortVectorsOnlyToSharedMemory_K05) {
  Far far(2);
  EXPECT_NE(far.chosen(64), "staged");
  far.facts.windows = true;
  far.facts.network.staged = link_of({{4, 1e-8, 0}, {1 << 20, 1e-8, 0}});
  EXPECT_EQ(far.chosen(64), "staged");
  EXPECT_EQ(far.chosen(64 << 10), "staged");
  EXPECT_NE(far.chosen(65 << 10), "staged");
}

TEST(Choose, NamesWhatIsUnknownOrDoesNotWork) {
  Far far(2);
  expect_error([&] { choose(allreduces(), "rings", far.facts, {}); },
               {"unknown allreduce 'rings'", "ring"});
  expect_error([&] { choose(allreduces(), "direct", far.facts, {}); },
               {"allreduce 'direct' does not work on this transport"});
}

TEST(Choose, AllToAllNeedsEqualBlocks) {
  const auto threads = thread_communicators(3);
  expect_error([&] { all_to_alls().find("pairwise").make(*threads[0], {.count = 10}); },
               {"equal blocks", "10 elements", "3 ranks"});
}

// What each rank sends when an entry runs, in elements and messages.
struct Sent {
  std::vector<std::int64_t> elements;
  std::vector<int> messages;
  bool operator==(const Sent&) const = default;
};

Sent run_counted(const Collective& entry, int ranks, std::int64_t count, bool fixed_order) {
  Sent sent{std::vector<std::int64_t>(ranks), std::vector<int>(ranks)};
  run_ranks(ranks, [&](Communicator& threads) {
    CountingCommunicator comm(threads);
    std::vector<float> data(3 * count, 1);  // room for neighbours
    const auto operation =
        entry.make(comm, {.count = count, .tag = 0, .fixed_order = fixed_order, .node_ranks = 2});
    operation->start(data.data());
    wait(*operation, comm);
    sent.elements[comm.rank()] = comm.bytes / 4;
    sent.messages[comm.rank()] = comm.messages;
  });
  return sent;
}

Sent listed(const Collective& entry, int ranks, std::int64_t count, bool fixed_order) {
  Sent sent{std::vector<std::int64_t>(ranks), std::vector<int>(ranks)};
  const auto schedule = entry.schedule({ranks, count, DType::f32, 2}, fixed_order);
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto& action : schedule.ranks[rank])
      if (action.kind == collectives::Action::send)
        sent.elements[rank] += action.segment.count(), ++sent.messages[rank];
  return sent;
}

TEST(Scheduled, EveryEntrySendsWhatItsScheduleLists_P07) {
  for (const List<Collective>& list :
       {allreduces(), reduce_scatters(), allgathers(), broadcasts(), neighbour_exchanges()})
    for (const Collective& entry : list)
      for (const int ranks : {1, 2, 5, 7})
        for (const bool fixed_order : {false, true})
          if (entry.schedule) {
            EXPECT_EQ(run_counted(entry, ranks, 1001, fixed_order),
                      listed(entry, ranks, 1001, fixed_order))
                << list.kind() << " " << entry.name << " on " << ranks;
          }
}

TEST(Scheduled, TheRingSendsTwoMTimesPMinusOneOverP_D04) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const std::int64_t count = 100 * ranks;
    const Sent sent = run_counted(allreduces().find("ring"), ranks, count, false);
    EXPECT_EQ(sent.elements, std::vector<std::int64_t>(ranks, 2 * count * (ranks - 1) / ranks));
    EXPECT_EQ(sent.messages, std::vector<int>(ranks, 2 * (ranks - 1)));
  }
}

TEST(Scheduled, InFixedOrderEachRankSendsTheVectorOnceEachWay) {
  const std::int64_t count = 100000;  // 400,000 bytes: 7 segments
  const Sent sent = run_counted(allreduces().find("tree"), 4, count, true);
  EXPECT_EQ(sent.elements, (std::vector<std::int64_t>{count, 2 * count, 2 * count, count}));
  EXPECT_EQ(sent.messages, (std::vector<int>{7, 14, 14, 7}));
}

}  // namespace
}  // namespace tutti
