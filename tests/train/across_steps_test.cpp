// SPDX-License-Identifier: Apache-2.0
// C03: an update waits for its sum where the next step needs it, and nothing else changes.
#include "tutti/comm/sim/sim.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/simulate_job.h"

#include "train/small_job.h"

namespace tutti {
namespace {

// Steps of a rank of the job, on whatever its batch is; all but the last may leave their updates.
// Returns how many did. T is the job's type.
template <class T = double>
int take_steps(const Job& job, Communicator& communicator, int steps,
               const std::function<void(Replica&)>& after = {}, Profile* profile = nullptr) {
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  Replica replica(replica_options(job, input, 1, &communicator));
  replica.initialise(1);
  const std::int64_t local = data::share_of(12, communicator.rank(), communicator.size()).count();
  std::vector<T> x;
  for (std::int64_t i = 0; i < 6 * local; ++i)
    x.push_back(static_cast<T>(0.1 * static_cast<double>(i % 7) + 0.2 * communicator.rank()));
  const std::vector<T> weights(static_cast<std::size_t>(local), static_cast<T>(1.0 / 12));
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(local), 1);
  int left = 0;
  for (int step = 0; step < steps; ++step) {
    const StepResult result =
        replica.step({12, local, {x.data(), labels.data(), weights.data()}},
                     {.step = step, .key = 1, .rate = 0.1}, profile, step + 1 < steps);
    left += !result.complete;
    EXPECT_EQ(result.complete, result.gradient_norm > 0);
    if (after) after(replica);
  }
  return left;
}

std::vector<double> weights_of(const Replica& replica) {
  const auto* w = static_cast<const double*>(replica.weights());
  return {w, w + replica.table().count()};
}

TEST(AcrossSteps, UpdatesAreLeftAndDoneWhenAskedForC03) {
  const TemporaryFolder folder;
  for (const char* shard : {"exchange.store=all", "exchange.store=sharded"}) {
    const Job across = small_job(
        folder, {"partition.data=2", shard, "exchange.block_bytes=64", "exchange.across_steps=on"});
    const Job within = small_job(folder, {"partition.data=2", shard, "exchange.block_bytes=64",
                                          "exchange.across_steps=off"});
    run_ranks(2, [&](Communicator& communicator) {
      std::vector<std::vector<double>> expected, found, seldom;
      EXPECT_EQ(take_steps(within, communicator, 5,
                           [&](Replica& r) { expected.push_back(weights_of(r)); }),
                0);
      EXPECT_EQ(
          take_steps(across, communicator, 5, [&](Replica& r) { found.push_back(weights_of(r)); }),
          4);
      EXPECT_EQ(found, expected) << shard;
      int step = 0;
      take_steps(across, communicator, 5, [&](Replica& r) {
        if (++step == 5) seldom.push_back(weights_of(r));
      });
      EXPECT_EQ(seldom.at(0), expected.back()) << shard;
    });
  }
}

// The norm of the whole gradient must be there before any update.
TEST(AcrossSteps, ANormIsABarrier) {
  const TemporaryFolder folder;
  const Job job = small_job(
      folder, {"partition.data=2", "optimizer.clip_norm=0.1", "exchange.across_steps=on"});
  run_ranks(2, [&](Communicator& communicator) { EXPECT_EQ(take_steps(job, communicator, 3), 0); });
}

TEST(AcrossSteps, ChangesNoBitC03) {
  for (const char* shard :
       {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"})
    for (const char* algorithm : {"ring", "direct"}) {
      std::vector<std::string> changes = {
          "partition.data=3",  "optimizer.rule=adam",     shard,
          "train.log_every=7", "exchange.block_bytes=64", "model.hidden=[8,9,10]"};
      for (const char* key : {"allreduce", "reduce_scatter", "allgather"})
        changes.push_back(fmt::format("exchange.{}={}", key, algorithm));
      const TemporaryFolder across, within;
      changes.emplace_back("exchange.across_steps=on");
      train(small_job(across, changes), {});
      changes.back() = "exchange.across_steps=off";
      train(small_job(within, changes), {});
      EXPECT_EQ(checkpoint_bytes(across), checkpoint_bytes(within)) << shard << " " << algorithm;
    }
}

// Where sums are there soon, the first half of the backward pass has its updates behind it before
// the rest is computed; that changes no bit.
TEST(AcrossSteps, SumsThatComeEarlyAreUsedAtOnceC03) {
  const TemporaryFolder folder;
  for (const char* shard : {"exchange.store=all", "exchange.store=sharded"}) {
    const auto job_with = [&](const char* across) {
      return small_job(folder, {"partition.data=2", "machine.transport=sim", shard, across,
                                "exchange.block_bytes=1", "model.hidden=[8,9,10,11]",
                                "simulation.latency=1e-12", "simulation.bandwidth=1e18"});
    };
    const Job job = job_with("exchange.across_steps=on");
    const Job within = job_with("exchange.across_steps=off");
    sim::run_simulated_ranks(
        2, simulated_machine(job.table("simulation")), [&](Communicator& communicator) {
          TraceEvents trace;
          Profile profile;
          profile.trace = &trace;
          std::vector<double> found, expected;
          EXPECT_EQ(take_steps(
                        job, communicator, 4, [&](Replica& r) { found = weights_of(r); }, &profile),
                    3);
          take_steps(within, communicator, 4, [&](Replica& r) { expected = weights_of(r); });
          EXPECT_EQ(found, expected) << shard;
          const auto at = [&](const std::string& name) {
            return std::find_if(trace.begin(), trace.end(),
                                [&](const TraceEvent& event) { return event.name == name; }) -
                   trace.begin();
          };
          const auto end = static_cast<std::ptrdiff_t>(trace.size());
          ASSERT_LT(at("bias_grad of fc1"), end);
          ASSERT_LT(at("update of fc1.weight"), end);
          EXPECT_LT(at("update of fc5.weight"), at("bias_grad of fc3"));
          EXPECT_GT(at("update of fc5.weight"), at("bias_grad of fc5"));
          EXPECT_GT(at("update of fc2.weight"), at("bias_grad of fc1")) << "the line is left free";
        });
  }
}

// Ranks with values and ranks without have the same clock.
TEST(AcrossSteps, SimulatedStepsTakeTheTimeOfThoseThatRun) {
  const TemporaryFolder folder;
  for (const auto& [shard, rounded] : {std::pair("exchange.store=all", false),
                                       {"exchange.store=sharded", false},
                                       {"exchange.store=all", true},
                                       {"exchange.store=sharded", true}}) {
    std::vector<std::string> changes = {
        "partition.data=4",         "machine.transport=sim", shard,
        "exchange.block_bytes=256", "model.hidden=[8,9,10]", "exchange.across_steps=on"};
    if (rounded) changes.insert(changes.end(), {"train.dtype=f32", "codec.name=bf16"});
    const Job job = small_job(folder, changes);
    constexpr int steps = 4;
    const SimulatedJob predicted = simulate_job(job, steps, nullptr);
    double latest = 0;
    sim::run_simulated_ranks(4, simulated_machine(job.table("simulation")),
                             [&](Communicator& communicator) {
                               EXPECT_EQ(rounded ? take_steps<float>(job, communicator, steps)
                                                 : take_steps(job, communicator, steps),
                                         steps - 1);
                               latest = std::max(latest, communicator.seconds());
                             });
    // Ranks whose own parts are shorter update them in less time.
    EXPECT_NEAR(steps * predicted.step.step_seconds, latest, 0.02 * latest) << shard;
  }
}

// The first layer, whose sum comes last, is waited for as long as before, but in no case longer:
// ranks of one node do other updates meanwhile.
TEST(AcrossSteps, SimulatedHidesNoLessThanTheBackwardPass) {
  const TemporaryFolder folder;
  const auto step = [&](const char* across) {
    return simulate_job(
               small_job(folder, {"partition.data=2", "model.hidden=[64,64,64,64,64,64]",
                                  "train.batch=60", "simulation.node_bandwidth=1e9",
                                  "simulation.node_latency=0", "exchange.store=all",
                                  "simulation.node_ranks=2", "exchange.block_bytes=1", across}),
               20, nullptr)
        .step;
  };
  const StepSimulation across = step("exchange.across_steps=on"),
                       within = step("exchange.across_steps=off");
  EXPECT_NEAR(across.compute_seconds, within.compute_seconds, 1e-12);
  EXPECT_GT(within.exposed_seconds, 0);
  EXPECT_LE(across.exposed_seconds, 1.0001 * within.exposed_seconds);
}

}  // namespace
}  // namespace tutti
