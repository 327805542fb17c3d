// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulate_job.h"

#include "tutti/comm/sim/sim.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/same_job.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Simulation, TrainsToTheBitsOfThreads) {
  for (const char* shard :
       {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"}) {
    const TemporaryFolder threads, sim;
    train(small_job(threads, {"partition.data=3", shard}), {});
    train(small_job(sim, {"partition.data=3", shard, "machine.transport=sim",
                          "simulation.jitter=0.3", "simulation.slow=1:4"}),
          {});
    EXPECT_EQ(checkpoint_bytes(sim), checkpoint_bytes(threads));
  }
}

TEST(Simulation, OfTheSameSeedTakesTheSameVirtualTime) {
  const auto seconds = [](const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    std::vector<std::string> changes = {"partition.data=3", "machine.transport=sim",
                                        "simulation.jitter=0.1"};
    changes.insert(changes.end(), more.begin(), more.end());
    return train(small_job(folder, changes), {}).seconds;
  };
  const double first = seconds({});
  EXPECT_EQ(seconds({}), first);
  EXPECT_NE(seconds({"simulation.seed=1"}), first);
  EXPECT_GT(seconds({"simulation.latency=1e-2"}), first);
  EXPECT_GT(seconds({"simulation.slow=2:100"}), first);
}

TEST(Simulation, FaultsEndTheRunAndSayWhy_L12) {
  const auto run = [](const std::string& faults) {
    const TemporaryFolder folder;
    train(small_job(folder, {"partition.data=3", "machine.transport=sim",
                             "simulation.faults=\"" + faults + "\""}),
          {});
  };
  expect_error([&] { run("drop 0 1 20"); },
               {"for ever", "message 20 from rank 0 to rank 1", "was dropped"});
  expect_error([&] { run("cut 1 0 0.001"); },
               {"for ever", "nothing passes between rank 1 and rank 0 since 0.001 s"});
  expect_error([&] { run("crash 2 0.001"); }, {"rank 2 failed: it crashes at 0.001 s"});
  expect_error([&] { run("hang 1 0.001"); }, {"rank 1 hangs (simulation.faults)"});
  expect_error([&] { run("loose 1"); }, {"[simulation]", "\"loose 1\"", "expected drop"});
}

std::vector<std::string> simulated_steps(const std::string& faults) {
  return {"partition.data=2", "machine.transport=sim", "exchange.store=all", "train.steps=2",
          "simulation.faults=\"" + faults + "\""};
}

// Unless messages are checked, the run goes on with other weights, on one of the ranks or on all.
TEST(Simulation, EveryCorruptMessageIsNoticed_L12) {
  const auto run = [](std::vector<std::string> changes, const char* verify) {
    const TemporaryFolder folder;
    changes.emplace_back(verify);
    train(small_job(folder, changes), {});
    return checkpoint_bytes(folder);
  };
  const std::string right = run(simulated_steps(""), "exchange.verify=0");
  EXPECT_EQ(run(simulated_steps(""), "exchange.verify=1"), right);
  const auto goes_wrong = [&](const std::string& fault) {
    try {
      return run(simulated_steps(fault), "exchange.verify=0") != right;
    } catch (const Error&) {
      return true;
    }
  };
  int messages = 0, wrong_unchecked = 0;
  for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}})
    for (int number = 1;; ++number, ++messages) {
      const std::string fault = fmt::format("corrupt {} {} {}", from, to, number);
      std::string said;
      try {
        run(simulated_steps(fault), "exchange.verify=1");
      } catch (const Error& error) {
        said = error.what();
      }
      if (said.empty()) break;  // there are no more
      EXPECT_NE(said.find(fmt::format("from rank {} to rank {}", from, to)), std::string::npos)
          << fault << ": " << said;
      if (number % 4 == 1) wrong_unchecked += goes_wrong(fault) ? 1 : 0;
    }
  EXPECT_GT(messages, 20);
  EXPECT_GT(wrong_unchecked, 0);
}

TEST(Simulation, SharedOutParametersAreCheckedOnTheirWay_L12) {
  std::vector<std::string> changes = simulated_steps("corrupt 0 1 5");
  changes.insert(changes.end(), {"exchange.store=sharded_weights", "exchange.verify=1"});
  const TemporaryFolder folder;
  expect_error([&] { train(small_job(folder, changes), {}); },
               {"from rank 0 to rank 1", "has changed on the way"});
}

// One step of a rank of the job, on whatever its batch is.
void one_step(const Job& job, Communicator& communicator, const NetInput& input) {
  Replica replica(replica_options(job, input, 1, &communicator));
  replica.initialise(1);
  const std::int64_t local = data::share_of(12, communicator.rank(), communicator.size()).count();
  const std::vector<double> x(static_cast<std::size_t>(6 * local), 0.5);
  const std::vector<double> weights(static_cast<std::size_t>(local), 1.0 / 12);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(local), 1);
  replica.step({12, local, {x.data(), labels.data(), weights.data()}}, {.key = 1, .rate = 0.1});
}

TEST(Simulation, WeightsThatDifferAreFound) {
  const TemporaryFolder folder;
  const Job job = small_job(folder, {"partition.data=2", "exchange.store=all"});
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  const auto compare = [&](std::uint64_t seed_of_rank_1) {
    run_ranks(2, [&](Communicator& communicator) {
      Replica replica(replica_options(job, input, 1, &communicator));
      replica.initialise(communicator.rank() == 1 ? seed_of_rank_1 : 1);
      require_same_weights(replica, 7, communicator);
    });
  };
  compare(1);
  expect_error([&] { compare(2); },
               {"rank 1 failed", "after step 7", "weights are others than those of rank 0"});
}

// Ranks with values and ranks without have the same clock.
TEST(Simulation, WithoutValuesTakesTheTimeOfTheStepThatRuns) {
  const TemporaryFolder folder;
  for (const char* shard :
       {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"})
    for (const char* overlap : {"exchange.overlap=true", "exchange.overlap=false"})
      for (const char* order : {"exchange.order=any", "exchange.order=fixed"}) {
        const Job job = small_job(folder, {"partition.data=4", "machine.transport=sim", shard,
                                           overlap, order, "exchange.block_bytes=256"});
        const NetInput input = net_input(job, *open_data(job, data::Split::train));
        const SimulatedJob predicted = simulate_job(job, 1, nullptr);
        double latest = 0;
        sim::run_simulated_ranks(4, simulated_machine(job.table("simulation")),
                                 [&](Communicator& communicator) {
                                   one_step(job, communicator, input);
                                   latest = std::max(latest, communicator.seconds());
                                 });
        // Ranks whose own parts are shorter update them in less time.
        EXPECT_NEAR(predicted.step.step_seconds, latest, 0.01 * latest)
            << shard << " " << overlap << " " << order;
      }
}

TEST(Simulation, SlowRanksAndNetworksCost) {
  const TemporaryFolder folder;
  const auto step = [&](const std::vector<std::string>& changes) {
    std::vector<std::string> all = {"partition.data=8", "train.batch=64"};
    all.insert(all.end(), changes.begin(), changes.end());
    return simulate_job(small_job(folder, all), 2, nullptr).step;
  };
  const StepSimulation usual = step({});
  EXPECT_GT(usual.step_seconds, usual.compute_seconds);
  EXPECT_GT(step({"simulation.latency=1e-3"}).step_seconds, usual.step_seconds + 1e-3);
  EXPECT_GT(step({"simulation.slow=3:50"}).step_seconds, 10 * usual.compute_seconds);
  EXPECT_NEAR(step({"simulation.speed=0.5"}).compute_seconds, 2 * usual.compute_seconds, 1e-12);
  EXPECT_NE(step({"simulation.jitter=0.1"}).step_seconds,
            step({"simulation.jitter=0.1", "simulation.seed=1"}).step_seconds);
  // Half of 2 m (P − 1)/P for the gradient, half for the weights, and a few sums of numbers.
  const std::int64_t parameters = 6 * 8 + 8 + 8 * 3 + 3;
  EXPECT_GE(usual.bytes_sent, 2.0 * static_cast<double>(parameters) * 7 / 8 * 8);
}

TEST(Simulation, PicksTheSizeOfBlocks) {
  const TemporaryFolder folder;
  const auto simulated = [&](const std::vector<std::string>& changes) {
    std::vector<std::string> all = {"partition.data=4", "model.hidden=[512,512,512]",
                                    "simulation.speed=100"};
    all.insert(all.end(), changes.begin(), changes.end());
    return simulate_job(small_job(folder, all), 1, nullptr);
  };
  // Latency in sequence: the fewer messages the better; without it the usual size will do.
  const char *slow = "simulation.latency=0.01", *alone = "exchange.overlap=false";
  const SimulatedJob chosen = simulated({slow, alone, "exchange.block_bytes=0"});
  EXPECT_GT(chosen.block_bytes, 1 << 20);
  EXPECT_LT(chosen.step.step_seconds, 0.99 * simulated({slow, alone}).step.step_seconds);
  EXPECT_EQ(simulated({"simulation.latency=0", "simulation.speed=1e-3", "exchange.block_bytes=0"})
                .block_bytes,
            1 << 20);
}

TEST(Simulation, AllRanksTakeTheSizeThatRankZeroPicks) {
  const TemporaryFolder usual, chosen;
  train(small_job(usual, {"partition.data=3"}), {});
  train(small_job(chosen, {"partition.data=3", "exchange.block_bytes=0"}), {});
  EXPECT_EQ(checkpoint_bytes(chosen), checkpoint_bytes(usual));
}

TEST(Simulation, OfSeveralPassesAddsThemUp) {
  const TemporaryFolder folder;
  const auto step = [&](const std::string& change) {
    return simulate_job(small_job(folder, {"partition.data=2", "train.batch=24", change}), 1,
                        nullptr)
        .step;
  };
  const StepSimulation one = step("train.accumulate=1"), three = step("train.accumulate=3");
  EXPECT_GT(three.compute_seconds, one.compute_seconds);  // more and smaller operators
  EXPECT_LT(three.bytes_sent, 1.5 * one.bytes_sent);      // gradients travel once
}

TEST(Simulation, TracesTheFirstRanks) {
  const TemporaryFolder folder;
  TraceEvents trace;
  const SimulatedJob job = simulate_job(small_job(folder, {"partition.data=12"}), 1, &trace);
  ASSERT_FALSE(trace.empty());
  int last = 0;
  double end = 0;
  for (const TraceEvent& event : trace) {
    last = std::max(last, event.rank);
    end = std::max(end, event.start + event.seconds);
  }
  EXPECT_EQ(last, 7);
  EXPECT_NEAR(end, job.step.step_seconds, 1e-12);
}

TEST(Simulation, RefusesWhatItCanNotRead) {
  const TemporaryFolder folder;
  for (const char* wrong : {"3", "3:", "3:0", "-1:2", "3:2x", "three:2"})
    expect_error([&] { small_job(folder, {std::string("simulation.slow=\"") + wrong + "\""}); },
                 {"[simulation]", "'slow'", "3:2.5 7:1.2"});
  EXPECT_EQ(slow_ranks("3:2.5 7:1.2"), (std::map<int, double>{{3, 2.5}, {7, 1.2}}));
}

}  // namespace
}  // namespace tutti
