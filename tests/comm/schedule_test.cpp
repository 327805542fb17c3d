// SPDX-License-Identifier: Apache-2.0
// Every schedule of every list: run on symbols it gives each rank what it should, with the messages
// and the volume of the closed forms (D01–D05), and its price is the formula (K04, K05).
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/price.h"

#include "comm/symbolic.h"

#include <bit>
#include <cmath>
#include <functional>

namespace tutti::collectives {
namespace {

constexpr int most_ranks = 9;
const std::vector<std::int64_t> counts = {0, 1, 2, 7, 40};

// Every entry that is a schedule, on 1 to 9 ranks, in any and in fixed order.
void for_each_schedule(const List<Collective>& list,
                       const std::function<void(const std::string&, const Schedule&)>& look) {
  for (const Collective& entry : list) {
    if (!entry.schedule) continue;
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (const int node_ranks : {1, 2, 3, ranks})
        for (const std::int64_t count : counts)
          for (const bool fixed_order : {false, true}) {
            SCOPED_TRACE(fmt::format("{} {}: {} ranks in nodes of {}, {} elements{}", list.kind(),
                                     entry.name, ranks, node_ranks, count,
                                     fixed_order ? ", fixed" : ""));
            look(fixed_order ? "fixed" : entry.name,
                 entry.schedule({ranks, count, DType::f64, node_ranks}, fixed_order));
          }
  }
}

int power_of(int ranks) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))); }
int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

// Of all ranks together; volume in elements per element of the vector.
struct Traffic {
  std::int64_t messages = 0, volume = 0;
};

// The sum of Rabenseifner over P ranks; those beyond 2^k send a vector and have one back.
Traffic rabenseifner_traffic(int ranks) {
  const int power = power_of(ranks), extra = ranks - power;
  return {2 * power * log2_of(power) + 2 * extra, 2 * (power - 1) + 2 * extra};
}

Traffic allreduce_traffic(const std::string& name, int ranks, int node_ranks) {
  const int power = power_of(ranks), extra = ranks - power;
  if (name == "ring") return {2 * ranks * (ranks - 1), 2 * (ranks - 1)};
  if (name == "tree") return {2 * (ranks - 1), 2 * (ranks - 1)};
  if (name == "chain" || name == "fixed") return {2 * (ranks - 1), 2 * (ranks - 1)};
  if (name == "butterfly") {
    const int messages = power * log2_of(power) + 2 * extra;
    return {messages, messages};
  }
  if (name == "rabenseifner") return rabenseifner_traffic(ranks);
  EXPECT_EQ(name, "hierarchical");
  const int nodes = (ranks + node_ranks - 1) / node_ranks;
  const Traffic across = rabenseifner_traffic(nodes);
  return {across.messages + 2 * (ranks - nodes), across.volume + 2 * (ranks - nodes)};
}

TEST(Schedules, OfAllreduceSumEverythingEverywhere_D02_D03_D04_D05) {
  for_each_schedule(allreduces(), [](const std::string& name, const Schedule& schedule) {
    const Problem& problem = schedule.problem;
    SymbolicRun run(schedule);
    for (int rank = 0; rank < problem.ranks; ++rank)
      for (std::int64_t i = 0; i < problem.count; ++i)
        ASSERT_EQ(run.at(rank, i), sum_over_ranks(problem.ranks, i)) << "rank " << rank;
    const Traffic traffic = allreduce_traffic(name, problem.ranks, problem.node_ranks);
    EXPECT_EQ(run.messages, traffic.messages);
    EXPECT_EQ(run.elements, traffic.volume * problem.count);
  });
}

TEST(Schedules, OfReduceSumEverythingOnRankZero_D01) {
  for_each_schedule(reduces(), [](const std::string& name, const Schedule& schedule) {
    const Problem& problem = schedule.problem;
    SymbolicRun run(schedule);
    for (std::int64_t i = 0; i < problem.count; ++i)
      ASSERT_EQ(run.at(0, i), sum_over_ranks(problem.ranks, i));
    const bool tree = name == "tree";
    EXPECT_EQ(run.messages, problem.ranks == 1 ? 0 : problem.ranks - (tree ? 1 : 0));
  });
}

// Additions of vectors: how many, and how many one after the other.
class Additions final : public Visitor {
 public:
  explicit Additions(const Schedule& schedule) : depths_(schedule.ranks.size()) {
    walk(schedule, *this);
  }
  int work = 0;
  int depth() const { return depths_[0]; }  // of rank 0's result

 private:
  void message(int from, int to, const Action&, const Action& in) override {
    int& own = depths_[static_cast<std::size_t>(to)];
    const int given = depths_[static_cast<std::size_t>(from)];
    const bool adds = in.kind == Action::receive_add;
    if (adds) ++work;
    own = adds ? std::max(own, given) + 1 : given;
  }
  void phase(int, const Action*, const Action*) override {}

  std::vector<int> depths_;
};

TEST(Schedules, OfReduceAddPMinusOneTimes_D01) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const Problem problem{ranks, 1, DType::f32};
    const Additions line(schedule_of(line_reduce, problem));
    const Additions tree(schedule_of(tree_reduce_all, problem));
    EXPECT_EQ(line.work, ranks - 1);
    EXPECT_EQ(tree.work, ranks - 1);
    EXPECT_EQ(line.depth(), ranks - 1);
    EXPECT_EQ(tree.depth(), std::bit_width(static_cast<unsigned>(ranks - 1)));
  }
}

TEST(Schedules, OfReduceScatterSumTheOwnPart_D04) {
  for_each_schedule(reduce_scatters(), [](const std::string& name, const Schedule& schedule) {
    const Problem& problem = schedule.problem;
    SymbolicRun run(schedule);
    for (int rank = 0; rank < problem.ranks; ++rank)
      for (std::int64_t i = own_parts(problem)(rank).begin; i < own_parts(problem)(rank).end; ++i)
        ASSERT_EQ(run.at(rank, i), sum_over_ranks(problem.ranks, i)) << "rank " << rank;
    if (name != "bruck") {
      EXPECT_EQ(run.messages, problem.ranks * (problem.ranks - 1));
    }
    EXPECT_EQ(run.elements, problem.count * (problem.ranks - 1));
  });
}

TEST(Schedules, OfAllgatherBringEveryPartEverywhere_D04) {
  for_each_schedule(allgathers(), [](const std::string& name, const Schedule& schedule) {
    const Problem& problem = schedule.problem;
    SymbolicRun run(schedule);
    for (int rank = 0; rank < problem.ranks; ++rank)
      for (int owner = 0; owner < problem.ranks; ++owner)
        for (std::int64_t i = own_parts(problem)(owner).begin; i < own_parts(problem)(owner).end;
             ++i)
          ASSERT_EQ(run.at(rank, i), (Sum{{owner, i}})) << "rank " << rank;
    if (name == "ring") {
      EXPECT_EQ(run.messages, problem.ranks * (problem.ranks - 1));
    }
    EXPECT_EQ(run.elements, problem.count * (problem.ranks - 1));
  });
}

TEST(Schedules, OfBroadcastBringTheVectorOfRankZero) {
  for_each_schedule(broadcasts(), [](const std::string&, const Schedule& schedule) {
    SymbolicRun run(schedule);
    for (int rank = 0; rank < schedule.problem.ranks; ++rank)
      for (std::int64_t i = 0; i < schedule.problem.count; ++i)
        ASSERT_EQ(run.at(rank, i), (Sum{{0, i}})) << "rank " << rank;
    EXPECT_EQ(run.messages, schedule.problem.ranks - 1);
    EXPECT_EQ(run.elements, schedule.problem.count * (schedule.problem.ranks - 1));
  });
}

TEST(Schedules, OfAllToAllTransposeTheBlocks) {
  for (const Collective& entry : all_to_alls())
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (const std::int64_t block : {0, 1, 3}) {
        SymbolicRun run(entry.schedule({ranks, ranks * block, DType::f32}, false));
        for (int rank = 0; rank < ranks; ++rank)
          for (int from = 0; from < ranks; ++from)
            for (std::int64_t i = 0; i < block; ++i)
              ASSERT_EQ(run.at(rank, from * block + i), (Sum{{from, rank * block + i}}));
        EXPECT_EQ(run.messages, ranks * (ranks - 1));
        EXPECT_EQ(run.elements, ranks * (ranks - 1) * block);
      }
}

void expect_neighbours(const std::vector<std::vector<int>>& neighbours, const Schedule& schedule) {
  SymbolicRun run(schedule);
  std::int64_t messages = 0;
  for (std::size_t rank = 0; rank < neighbours.size(); ++rank)
    for (std::size_t k = 0; k < neighbours[rank].size(); ++k, ++messages)
      for (std::int64_t i = 0; i < schedule.problem.count; ++i)
        ASSERT_EQ(run.at(static_cast<int>(rank),
                         static_cast<std::int64_t>(k + 1) * schedule.problem.count + i),
                  (Sum{{neighbours[rank][k], i}}));
  EXPECT_EQ(run.messages, messages);
}

TEST(Schedules, OfNeighbourExchangeBringTheirBlocks_D08) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    std::vector<std::vector<int>> ring;
    for (int rank = 0; rank < ranks; ++rank) ring.push_back(ring_neighbours(ranks, rank));
    for (const std::int64_t count : {0, 1, 5})
      expect_neighbours(ring, schedule_of(ring_exchange, {ranks, count, DType::f32}));
  }
  const std::vector<std::vector<int>> star = {{1, 2, 3}, {0}, {0, 3}, {2, 0}};
  Schedule schedule{{4, 3, DType::f32}, {}};
  for (const std::vector<int>& neighbours : star)
    schedule.ranks.push_back(exchange_with(neighbours, 3));
  expect_neighbours(star, schedule);
}

TEST(Schedules, ThatDoNotFitTogetherAreFound) {
  class Ignore final : public Visitor {
    void message(int, int, const Action&, const Action&) override {}
    void phase(int, const Action*, const Action*) override {}
  } ignore;
  const auto two = [](Actions first, Actions second) {
    return Schedule{{2, 4, DType::f32}, {std::move(first), std::move(second)}};
  };
  const Action send{0, Action::send, 1, {0, 4}}, receive{0, Action::receive, 0, {0, 4}};
  walk(two({send}, {receive}), ignore);
  EXPECT_THROW(walk(two({send}, {}), ignore), std::logic_error);
  EXPECT_THROW(walk(two({}, {receive}), ignore), std::logic_error);
  EXPECT_THROW(walk(two({send}, {{0, Action::receive, 0, {0, 3}}}), ignore), std::logic_error);
  EXPECT_THROW(walk(two({{0, Action::send, 0, {0, 4}}}, {}), ignore), std::logic_error);
  // Each receives before it sends.
  EXPECT_THROW(walk(two({{0, Action::receive, 1, {0, 4}}, {1, Action::send, 1, {0, 4}}},
                        {{0, Action::receive, 0, {0, 4}}, {1, Action::send, 0, {0, 4}}}),
                    ignore),
               std::logic_error);
}

// L = 1 µs, G = 0.1 ns per byte, as in the catalogue of the surveys.
const LinkCost link{1e-6, 1e-10};

double seconds_of(const std::string& name, int ranks, std::int64_t bytes,
                  bool fixed_order = false) {
  return allreduces().find(name).seconds(link, ranks, bytes, fixed_order);
}

TEST(Price, IsTheFormulaForPowersOfTwo_K04_D02_D03_D04_D05) {
  for (const int ranks : {1, 2, 4, 8, 64}) {
    const double log2 = std::log2(ranks);
    for (const std::int64_t bytes : {4096, 1 << 20}) {
      const auto all = static_cast<double>(bytes);
      const double volume = all * (ranks - 1) / ranks * 1e-10;
      EXPECT_NEAR(seconds_of("tree", ranks, bytes), 2 * log2 * (1e-6 + all * 1e-10), 1e-12);
      EXPECT_NEAR(seconds_of("butterfly", ranks, bytes), log2 * (1e-6 + all * 1e-10), 1e-12);
      EXPECT_NEAR(seconds_of("ring", ranks, bytes), 2 * ((ranks - 1) * 1e-6 + volume), 1e-12);
      EXPECT_NEAR(seconds_of("rabenseifner", ranks, bytes), 2 * (log2 * 1e-6 + volume), 1e-12);
      for (const char* name : {"ring", "bruck"}) {
        const double steps = name[0] == 'r' ? ranks - 1 : log2;
        for (const List<Collective>& list : {reduce_scatters(), allgathers()})
          EXPECT_NEAR(list.find(name).seconds(link, ranks, bytes, false), steps * 1e-6 + volume,
                      1e-12);
      }
    }
  }
}

TEST(Price, HasTheNumbersOfTheCatalogue_D03_K05) {
  EXPECT_NEAR(seconds_of("butterfly", 8, 1024), 3.307e-6, 5e-10);
  EXPECT_NEAR(seconds_of("butterfly", 64, 1024), 6.61e-6, 5e-9);
  EXPECT_NEAR(seconds_of("rabenseifner", 64, 100 * 1024), 32.2e-6, 5e-8);
  EXPECT_NEAR(seconds_of("ring", 64, 100 * 1024), 146e-6, 5e-7);
  EXPECT_NEAR(seconds_of("rabenseifner", 64, 244000000), 48.05e-3, 5e-6);
  EXPECT_NEAR(seconds_of("tree", 64, 244000000), 292.8e-3, 5e-5);
}

TEST(Price, CrossesFromButterflyToRabenseifnerWhereItShould_D05) {
  const std::vector<std::pair<int, std::int64_t>> crossings = {{4, 40000}, {8, 24000}, {64, 14884}};
  for (const auto& [ranks, bytes] : crossings) {
    EXPECT_LT(seconds_of("butterfly", ranks, bytes - 64),
              seconds_of("rabenseifner", ranks, bytes - 64));
    EXPECT_GT(seconds_of("butterfly", ranks, bytes + 64),
              seconds_of("rabenseifner", ranks, bytes + 64));
  }
}

TEST(Price, OfTheChainIsThatOfItsSegments) {
  // 2 + 16 − 1 steps of 1 µs + 62,500 · 0.1 ns
  EXPECT_NEAR(seconds_of("ring", 2, 1000000, true), 17 * 7.25e-6, 1e-12);
  // With more ranks those in the middle have two segments at a time for each of their ports.
  EXPECT_GE(seconds_of("ring", 8, 1000000, true), 2 * 1000000 * 1e-10);
  EXPECT_LE(seconds_of("ring", 8, 1000000, true), (14 + 16 - 1) * 13.5e-6);
}

TEST(Price, CountsAdditionsAndPortsThatAreShared) {
  const LinkCost adding{0, 1, 0.5};
  // Rank 0 adds 8 bytes, twice over its one port.
  const Part two{0, 2};
  const Schedule schedule{{3, 2, DType::f32},
                          {{{0, Action::receive_add, 1, two}, {0, Action::receive_add, 2, two}},
                           {{0, Action::send, 0, two}},
                           {{0, Action::send, 0, two}}}};
  EXPECT_DOUBLE_EQ(price(schedule, adding), 8 + 8 + 2 * 8 * 0.5);
}

TEST(Price, KnowsNodes) {
  const Network nodes({1e-3, 0}, {1e-6, 0}, 4);
  const List<Collective> list = allreduces();
  // 2 steps within a node, 2 across two nodes, 2 within.
  EXPECT_NEAR(list.find("hierarchical").seconds(nodes, 8, 4, false), 2e-3 + 4e-6, 1e-12);
  EXPECT_NEAR(list.find("butterfly").seconds(nodes, 8, 4, false), 1e-3 + 2e-6, 1e-12);
}

}  // namespace
}  // namespace tutti::collectives
