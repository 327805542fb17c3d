// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/sim.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/sim/virtual_ranks.h"

#include "comm/virtual_tasks.h"
#include "expect_error.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::sim {
namespace {

const LinkCost wire{1e-6, 1e-10};  // additions are free

std::vector<float> summed(Communicator& comm, const std::string& algorithm, std::int64_t count,
                          double computing = 0) {
  std::vector<float> data(static_cast<std::size_t>(count), static_cast<float>(comm.rank() + 1));
  const auto operation = allreduces().find(algorithm).make(
      comm, {.count = count, .tag = 7, .what = "allreduce_block of conv1 (tag 7)"});
  operation->start(data.data());
  comm.clock().spend(computing);
  wait(*operation, comm);
  return data;
}

TEST(Sim, CarriesRealValues) {
  for (const Collective& entry : allreduces()) {
    if (!entry.schedule) continue;
    for (const int ranks : {1, 2, 3, 5, 8})
      for (const std::int64_t count : {0, 1, 1001})
        run_simulated_ranks(ranks, {.network = wire}, [&](Communicator& comm) {
          for (const float sum : summed(comm, entry.name, count))
            EXPECT_EQ(sum, static_cast<float>(ranks * (ranks + 1) / 2));
        });
  }
}

// What runs with values takes as long as what runs without.
TEST(Sim, TakesTheTimeOfVirtualRanks_K04) {
  for (const char* name : {"ring", "tree", "butterfly", "rabenseifner", "hierarchical", "chain"})
    for (const int ranks : {2, 3, 8})
      for (const double computing : {0.0, 2e-5, 1e-3}) {
        const ComputeLaw law{.slow = {{1, 1.5}}};
        VirtualRanks without(ranks, wire, law);
        const int sum = without.add({{std::make_shared<MatchedSchedule>(
            matched(allreduces().find(name).schedule({ranks, 10000, DType::f32}, false)))}});
        const auto times = run_tasks(
            without, ranks, {{Task::start, sum}, {Task::compute, 0, computing}, {Task::wait, sum}});
        run_simulated_ranks(ranks, {.network = wire, .law = law}, [&](Communicator& comm) {
          summed(comm, name, 10000, computing);
          EXPECT_NEAR(comm.seconds(), times[static_cast<std::size_t>(comm.rank())].end, 1e-12)
              << name << " on " << ranks;
        });
      }
}

TEST(Sim, ABarrierTakesUntilTheLastHasCome) {
  run_simulated_ranks(3, {.law = {.slow = {{2, 4.0}}}}, [](Communicator& comm) {
    comm.clock().spend(1);
    comm.barrier();
    EXPECT_DOUBLE_EQ(comm.seconds(), 4);
    comm.barrier();
    EXPECT_DOUBLE_EQ(comm.seconds(), 4);
  });
}

// By rank, when each of many sums was there.
std::vector<std::vector<double>> times_of(const SimulatedMachine& machine) {
  std::vector<std::vector<double>> times(4);
  run_simulated_ranks(4, machine, [&](Communicator& comm) {
    for (int k = 0; k < 5; ++k) {
      comm.clock().spend(1e-4);
      summed(comm, "ring", 1000);
      times[static_cast<std::size_t>(comm.rank())].push_back(comm.seconds());
    }
  });
  return times;
}

TEST(Sim, TheSameSeedGivesTheSameTimes_L12) {
  SimulatedMachine machine;
  machine.network = wire;
  machine.law.jitter = 0.2;
  machine.law.seed = 1;
  machine.faults = faults_named("delay 0 1 3 0.001");
  const auto first = times_of(machine);
  EXPECT_EQ(times_of(machine), first);
  machine.law.seed = 2;
  EXPECT_NE(times_of(machine), first);
}

TEST(Sim, ADelayedMessageIsWaitedFor_L12) {
  const double as_usual = times_of({.network = wire})[0].back();
  const double late =
      times_of({.network = wire, .faults = faults_named("delay 0 1 3 0.001")})[0].back();
  EXPECT_NEAR(late - as_usual, 0.001, 1e-9);
}

TEST(Sim, ADroppedMessageIsNamedAtOnce_L12) {
  expect_error([] { times_of({.network = wire, .faults = faults_named("drop 2 3 4")}); },
               {"waits for allreduce_block of conv1 (tag 7) for ever", "s of virtual time",
                "message 4 from rank 2 to rank 3 (tag 7, 1000 bytes) was dropped"});
}

TEST(Sim, ACrashEndsTheJob_L12) {
  expect_error([] { times_of({.network = wire, .faults = faults_named("crash 1 0.0002")}); },
               {"rank 1 failed: it crashes at 0.0002 s of virtual time"});
}

TEST(Sim, AHangIsFoundAtOnce_L12) {
  expect_error([] { times_of({.network = wire, .faults = faults_named("hang 1 0.0002")}); },
               {"rank 0 failed: it waits for allreduce_block of conv1 (tag 7) for ever",
                "rank 1 hangs (simulation.faults)", "rank 2 waits for allreduce_block of conv1"});
}

SimulatedMachine machine_with(const std::string& faults) {
  SimulatedMachine machine;
  machine.faults = faults_named(faults);
  return machine;
}

// Where nothing follows, there is nothing to overtake it.
TEST(Sim, TheLastOneIsOvertakenByNone_L12) {
  const SimulatedMachine machine = machine_with("reorder 0 1 2");
  run_simulated_ranks(2, machine, [](Communicator& comm) {
    for (float number : {3.0f, 4.0f}) {
      float data = comm.rank() == 0 ? number : 0;
      Request request = comm.rank() == 0 ? comm.send(&data, 4, 1, 5) : comm.receive(&data, 4, 0, 5);
      wait(request, comm);
      EXPECT_EQ(data, number);
    }
  });
}

// Tags tell messages apart, whichever comes first.
TEST(Sim, OthersOfOtherTagsMayOvertake_L12) {
  const SimulatedMachine machine = machine_with("reorder 0 1 1");
  run_simulated_ranks(2, machine, [](Communicator& comm) {
    float first = comm.rank() == 0 ? 3.0f : 0.0f, second = comm.rank() == 0 ? 4.0f : 0.0f;
    const auto post = [&](float& data, int tag) {
      return comm.rank() == 0 ? comm.send(&data, 4, 1, tag) : comm.receive(&data, 4, 0, tag);
    };
    Request one = post(first, 1), two = post(second, 2);
    wait(one, comm);
    wait(two, comm);
    EXPECT_EQ(first, 3);
    EXPECT_EQ(second, 4);
  });
}

// Each rank's virtual times and what it had then, bit for bit.
std::string event_trace(const std::string& faults, std::uint64_t seed) {
  SimulatedMachine machine = machine_with(faults);
  machine.law.jitter = 0.2;
  machine.law.seed = seed;
  std::vector<std::string> ranks(4);
  std::string end = "all have ended";
  try {
    run_simulated_ranks(4, machine, [&](Communicator& comm) {
      constexpr std::int64_t count = 48;
      const auto operation = allreduces().find("ring").make(comm, {.count = count, .tag = 7});
      for (int round = 0; round < 5; ++round) {
        std::vector<float> data(count, static_cast<float>((round + 1) * (comm.rank() + 1)));
        comm.clock().spend(1e-4);
        operation->start(data.data());
        wait(*operation, comm);
        ranks[static_cast<std::size_t>(comm.rank())] +=
            fmt::format("{:a} {:a} {:a}\n", comm.seconds(), data.front(), data.back());
      }
    });
  } catch (const Error& error) {
    end = error.what();
  }
  return ranks[0] + ranks[1] + ranks[2] + ranks[3] + end;
}

TEST(Sim, TheSameSeedGivesTheSameTraceOfAnyFault_L12) {
  const std::string usual = event_trace("", 1);
  for (const char* faults :
       {"drop 0 1 7", "corrupt 0 1 7", "duplicate 0 1 7", "reorder 0 1 7", "delay 0 1 7 0.01",
        "cut 0 1 0.0003", "crash 2 0.0003", "hang 2 0.0003",
        "duplicate 0 1 2; reorder 2 3 4; corrupt 1 2 9; delay 3 0 5 0.001"}) {
    const std::string trace = event_trace(faults, 1);
    EXPECT_EQ(event_trace(faults, 1), trace) << faults;
    EXPECT_NE(event_trace(faults, 2), trace) << faults;
    EXPECT_NE(trace, usual) << faults;
  }
}

TEST(Sim, RanksThatWaitForEachOtherAreNamed) {
  expect_error(
      [] {
        run_simulated_ranks(3, {}, [](Communicator& comm) {
          if (comm.rank() == 2) return;
          float value = 0;
          Request request = comm.receive(&value, 4, 1 - comm.rank(), 0);
          wait(request, comm, comm.rank() == 0 ? "the gradient" : "the weights");
        });
      },
      {"rank 0 failed: it waits for the gradient for ever", "rank 1 waits for the weights",
       "rank 2 has ended"});
}

TEST(Sim, AnErrorOfARankEndsTheOthers) {
  expect_error(
      [] {
        run_simulated_ranks(3, {}, [](Communicator& comm) {
          if (comm.rank() == 1) throw Error("no more");
          comm.barrier();
        });
      },
      {"rank 1 failed: no more"});
}

TEST(Sim, BothEndsStateTheSameBytes) {
  expect_error(
      [] {
        run_simulated_ranks(2, {}, [](Communicator& comm) {
          double value = 0;
          Request request =
              comm.rank() == 0 ? comm.send(&value, 8, 1, 3) : comm.receive(&value, 4, 0, 3);
          wait(request, comm);
        });
      },
      {"rank 0 sends 8 bytes with tag 3 to rank 1, which expects 4 bytes"});
}

TEST(Sim, ASecondPeerOrRankThatIsNotThereIsRefused) {
  expect_error([] { run_simulated_ranks(0, {}, [](Communicator&) {}); }, {"at least 1 rank"});
  expect_error(
      [] { run_simulated_ranks(2, {.faults = faults_named("crash 2 1")}, [](Communicator&) {}); },
      {"simulation.faults names rank 2", "0 to 1"});
  expect_error(
      [] { run_simulated_ranks(2, {}, [](Communicator& comm) { comm.send(nullptr, 0, 2, 0); }); },
      {"can't send to rank 2: the job has ranks 0 to 1"});
  expect_error(
      [] {
        run_simulated_ranks(2, {},
                            [](Communicator& comm) { comm.receive(nullptr, 0, comm.rank(), 0); });
      },
      {"can't receive from itself"});
}

TEST(Faults, AreReadOrRefused_L12) {
  const std::vector<Fault> faults =
      faults_named("drop 0 1 5; delay 1 0 3 0.5;crash 2 0.8; duplicate 0 1 2; reorder 1 0 4");
  ASSERT_EQ(faults.size(), 5u);
  EXPECT_EQ(faults[3].kind, Fault::duplicate);
  EXPECT_EQ(faults[4].kind, Fault::reorder);
  EXPECT_EQ(faults[4].number, 4);
  EXPECT_EQ(faults[0].number, 5);
  EXPECT_EQ(faults[1].kind, Fault::delay);
  EXPECT_EQ(faults[1].seconds, 0.5);
  EXPECT_EQ(faults[2].rank, 2);
  EXPECT_TRUE(faults_named("").empty());
  for (const char* wrong : {"lose 0 1 5", "drop 0 1", "drop 0 1 0", "crash 1", "crash 1 2 3",
                            "delay 0 1 1 -1", "hang -1 0", "duplicate 0 1", "reorder 0 1 2 0.5"})
    expect_error([&] { faults_named(wrong); }, {wrong, "expected drop FROM TO NUMBER"});
}

}  // namespace
}  // namespace tutti::sim
