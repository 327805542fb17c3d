// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sealed_messages.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/sim/sim.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/comm/window.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace tutti {
namespace {

constexpr std::int64_t count = 48;  // all messages of an algorithm have the same length
constexpr int rounds = 3;
const std::vector<std::string> algorithms = {"ring",         "tree",         "butterfly",
                                             "rabenseifner", "hierarchical", "chain"};

sim::SimulatedMachine machine_with(const std::string& faults) {
  sim::SimulatedMachine machine;
  machine.faults = sim::faults_named(faults);
  return machine;
}

TEST(SealedMessages, EveryBitCounts) {
  for (const std::int64_t bytes : {1, 7, 8, 9, 100}) {
    std::vector<std::byte> data(static_cast<std::size_t>(bytes), std::byte{3});
    const std::uint64_t sum = checksum_of(data.data(), bytes, 5);
    EXPECT_NE(checksum_of(data.data(), bytes, 6), sum);
    for (std::byte& byte : data)
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= std::byte{1} << bit;
        EXPECT_NE(checksum_of(data.data(), bytes, 5), sum);
        byte ^= std::byte{1} << bit;
      }
  }
}

// The sums of several rounds with one tag, each of other numbers.
std::vector<float> sums(Communicator& comm, const std::string& algorithm) {
  std::vector<float> all;
  const auto operation = allreduces().find(algorithm).make(comm, {.count = count, .tag = 7});
  for (int round = 0; round < rounds; ++round) {
    std::vector<float> data(count, static_cast<float>((round + 1) * (comm.rank() + 1)));
    operation->start(data.data());
    wait(*operation, comm);
    all.insert(all.end(), data.begin(), data.end());
  }
  return all;
}

std::vector<float> right_sums(int ranks) {
  std::vector<float> all;
  for (int round = 0; round < rounds; ++round)
    all.insert(all.end(), count, static_cast<float>((round + 1) * ranks * (ranks + 1) / 2));
  return all;
}

TEST(SealedMessages, GiveTheSameSums) {
  for (const std::string& algorithm : algorithms)
    for (const int ranks : {1, 2, 3, 8}) {
      const auto body = [&](Communicator& comm) {
        comm.check_messages();
        EXPECT_EQ(sums(comm, algorithm), right_sums(ranks)) << algorithm << " on " << ranks;
      };
      run_ranks(ranks, body);
      sim::run_simulated_ranks(ranks, {}, body);
    }
}

TEST(SealedMessages, MayBeEmpty) {
  run_ranks(2, [](Communicator& comm) {
    comm.check_messages();
    const int peer = 1 - comm.rank();
    Request in = comm.receive(nullptr, 0, peer, 1), out = comm.send(nullptr, 0, peer, 1);
    wait(in, comm);
    wait(out, comm);
    EXPECT_TRUE(comm.test(in) && comm.test(out));
  });
}

// How often each rank sends to each in one round.
std::map<std::pair<int, int>, int> messages_of(const std::string& algorithm, int ranks) {
  std::map<std::pair<int, int>, int> messages;
  const auto schedule =
      allreduces().find(algorithm).schedule({ranks, count, DType::f32}, /*fixed_order=*/false);
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto& action : schedule.ranks[static_cast<std::size_t>(rank)])
      if (action.kind == collectives::Action::send) ++messages[{rank, action.peer}];
  return messages;
}

// Takes one fault after another through all messages of all rounds.
template <class Body>
void for_each_message(const char* fault, const Body& body) {
  constexpr int ranks = 4;
  for (const std::string& algorithm : algorithms)
    for (const auto& [pair, in_a_round] : messages_of(algorithm, ranks))
      for (int number = 1; number <= rounds * in_a_round; ++number) {
        SCOPED_TRACE(
            fmt::format("{}: {} {} {} {}", algorithm, fault, pair.first, pair.second, number));
        const sim::SimulatedMachine machine =
            machine_with(fmt::format("{} {} {} {}", fault, pair.first, pair.second, number));
        body(ranks, machine, algorithm, pair.first, pair.second);
      }
}

TEST(SealedMessages, EveryCorruptedOneIsNoticed_L12) {
  int noticed = 0;
  for_each_message("corrupt", [&](int ranks, const sim::SimulatedMachine& machine,
                                  const std::string& algorithm, int from, int to) {
    const std::string failed = fmt::format("rank {} failed", to);
    const std::string way = fmt::format("from rank {} to rank {}", from, to);
    expect_error(
        [&] {
          sim::run_simulated_ranks(ranks, machine, [&](Communicator& comm) {
            comm.check_messages();
            sums(comm, algorithm);
          });
        },
        {failed.c_str(), way.c_str(), "has changed on the way", "(exchange.verify)"});
    ++noticed;
  });
  EXPECT_GT(noticed, 200);
}

// Either what came is not what was expected, and both ends are named, or nothing came of it.
void expect_noticed_or_right(const char* fault) {
  int noticed = 0, wrong_unchecked = 0;
  for_each_message(fault, [&](int ranks, const sim::SimulatedMachine& machine,
                              const std::string& algorithm, int from, int to) {
    const auto run = [&](bool checked) {
      bool right = true;
      sim::run_simulated_ranks(ranks, machine, [&](Communicator& comm) {
        if (checked) comm.check_messages();
        right &= sums(comm, algorithm) == right_sums(ranks);
      });
      return right;
    };
    try {
      EXPECT_TRUE(run(true));
    } catch (const Error& error) {
      ++noticed;
      const std::string way = fmt::format("from rank {} to rank {}", from, to);
      EXPECT_NE(std::string(error.what()).find(way), std::string::npos) << error.what();
    }
    try {
      if (!run(false)) ++wrong_unchecked;
    } catch (const Error&) {
      ++wrong_unchecked;
    }
  });
  EXPECT_GT(noticed, 50);
  EXPECT_GE(noticed, wrong_unchecked);
  EXPECT_GT(wrong_unchecked, 50);
}

TEST(SealedMessages, ARepeatedOneIsNoticedOrHarmless_L12) { expect_noticed_or_right("duplicate"); }
TEST(SealedMessages, AnOvertakenOneIsNoticedOrHarmless_L12) { expect_noticed_or_right("reorder"); }

// What ranks of a node put into memory that all see is checked too.
TEST(SealedMessages, StagedVectorsAreChecked) {
  expect_error(
      [] {
        run_ranks(3, [](Communicator& comm) {
          comm.check_messages();
          std::vector<float> data(count, 1.0f);
          const auto operation = allreduces().find("staged").make(comm, {.count = count, .tag = 7});
          if (comm.rank() != 0) operation->start(data.data());
          comm.barrier();
          if (comm.rank() == 0) {
            auto* const window = reinterpret_cast<Window*>(comm.window(1));
            window->all[*entry_of(comm.window(0), 0, 7)].place(1).piece[9] ^= std::byte{1};
            operation->start(data.data());
          }
          wait(*operation, comm);
        });
      },
      {"what rank 1 gave rank", "tag 7", "has changed there", "(exchange.verify)"});
}

}  // namespace
}  // namespace tutti
