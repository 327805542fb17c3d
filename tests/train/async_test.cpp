// SPDX-License-Identifier: Apache-2.0
// exchange.gate = "async" (E04): ranks push to the store and pull from it, and wait for nobody.
#include "tutti/train/simulate_job.h"

#include "expect_error.h"
#include "small_job.h"

namespace tutti {
namespace {

std::vector<std::string> async(std::vector<std::string> changes) {
  changes.insert(changes.begin(), "exchange.gate=async");
  return changes;
}

TEST(Async, OneWorkerIsSgdBitForBitE04) {
  for (const char* transport : {"machine.transport=threads", "machine.transport=sim"})
    for (const char* rule :
         {"optimizer.rule=sgd", "optimizer.rule=momentum", "optimizer.rule=adam"}) {
      const TemporaryFolder alone, store;
      train(small_job(alone, {rule, transport, "optimizer.weight_decay=0.01"}), {});
      train(small_job(store, async({rule, transport, "optimizer.weight_decay=0.01",
                                    "exchange.block_bytes=64"})),
            {});
      EXPECT_EQ(weights_bytes(store), weights_bytes(alone)) << transport << " " << rule;
    }
}

// A block that is smaller than a line for each endpoint has owners without a part.
TEST(Async, WorkersTrainTheNetworkE04) {
  for (const char* transport : {"machine.transport=threads", "machine.transport=sim"}) {
    const TemporaryFolder together, apart;
    const std::vector<std::string> job = {transport, "train.steps=300", "partition.data=4",
                                          "exchange.block_bytes=256"};
    const TrainSummary sync = train(small_job(together, job), {});
    const TrainSummary summary = train(small_job(apart, async(job)), {});
    EXPECT_EQ(summary.steps_done, 300);
    EXPECT_NEAR(summary.test_loss, sync.test_loss, 0.1 * sync.test_loss) << transport;
    EXPECT_NEAR(summary.test_accuracy, sync.test_accuracy, 0.04) << transport;
  }
}

// Each rank's own mean, whatever its part of the samples or tokens.
TEST(Async, TheLossIsAMean) {
  for (const char* answers : {"data.answers=token", "data.answers=sample"}) {
    double losses[2] = {};
    for (const bool alone : {true, false}) {
      const TemporaryFolder folder;
      Recipe recipe = parse_recipe(small_recipe, "small.toml");
      recipe.tables["data"] = {{"name", std::string("tokens")}};
      recipe.tables["model"] = {{"name", std::string("token_mlp")}};
      // One class for all: the loss of a token does not depend on which rank has it.
      for (const char* change :
           {"data.count=60", "data.longest=9", "train.steps=1", "optimizer.rate=0",
            "train.checkpoint=none", "exchange.gate=async", "train.evaluate_every=0", answers,
            alone ? "partition.data=1" : "partition.data=5"})
        set(recipe, change);
      set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
      losses[alone ? 0 : 1] = train(make_job(recipe, default_lists()), {}).loss;
    }
    // Of a fifth of the samples, which are as hard as the others: five times more or less would
    // be seen.
    EXPECT_NEAR(losses[1], losses[0], 0.2 * losses[0]) << answers;
  }
}

TEST(Async, L01ResumesFromItsCheckpoint) {
  const TemporaryFolder whole, parts;
  const std::vector<std::string> one = async({"optimizer.rule=adam", "optimizer.rate=0.001"});
  train(small_job(whole, one), {});
  Script script{.signal_after = 33};
  const TrainSummary stopped = train(small_job(parts, one), script.options());
  EXPECT_EQ(stopped.why, TrainSummary::signal);
  EXPECT_LE(stopped.steps_done, 36);
  train(small_job(parts, one), {.resume = true});
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));

  // Several stop after one and the same step, and go on from there on another number of ranks.
  const TemporaryFolder several;
  const auto on = [&](const char* ranks) {
    return small_job(several, async({ranks, "optimizer.rule=adam", "optimizer.rate=0.001"}));
  };
  Script again{.signal_after = 20};
  EXPECT_LT(train(on("partition.data=3"), again.options()).steps_done, 50);
  EXPECT_EQ(train(on("partition.data=2"), {.resume = true}).steps_done, 50);
}

TEST(Async, LayersWithStateAreAveragedWhenRanksMeet) {
  const TemporaryFolder folder;
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["model"] = {{"name", std::string("resnet20")}};
  for (const char* change :
       {"data.shape=[3,8,8]", "train.steps=4", "partition.data=2", "exchange.gate=async",
        "train.checkpoint=none", "train.record=none", "train.evaluate_every=1"})
    set(recipe, change);
  EXPECT_EQ(train(make_job(recipe, default_lists()), {}).steps_done, 4);
}

TEST(Async, AFailureEndsAllE04) {
  for (const char* transport : {"machine.transport=threads", "machine.transport=sim"}) {
    const TemporaryFolder folder;
    expect_error(
        [&] {
          train(
              small_job(folder, async({"partition.data=3", "machine.fault=throw 1 7", transport})),
              {});
        },
        {"rank 1 failed"});
  }
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(small_job(folder, async({"partition.data=2", "optimizer.rate=1e300"})), {});
      },
      {"is not finite"});
}

TEST(Async, ARankThatHangsIsNamed) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(small_job(folder, async({"partition.data=3", "machine.transport=sim",
                                       "simulation.faults=hang 1 1e-4"})),
              {});
      },
      {"rank 1 hangs"});
}

// Without values, by the walk that also runs: against the virtual clock with values.
TEST(Async, IsSimulatedAsItRuns) {
  for (const char* network :
       {"simulation.bandwidth=1e9", "simulation.bandwidth=1e6", "simulation.slow=1:3"}) {
    const TemporaryFolder folder;
    const Job job = small_job(
        folder, async({"partition.data=3", "machine.transport=sim", "train.evaluate_every=0",
                       "exchange.block_bytes=128", "model.hidden=[32]", network}));
    const SimulatedJob predicted = simulate_job(job, 50, nullptr);
    const TrainSummary run = train(job, {});
    // The word of the first rank is not simulated.
    const double measured = 12 / run.samples_per_second;
    EXPECT_NEAR(predicted.step.step_seconds, measured, 0.2 * measured) << network;
  }
}

TEST(Async, RefusesWhatNeedsAllRanks) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& change, const char* why) {
    expect_error([&] { small_job(folder, async({change})); }, {"'gate' is \"async\", but", why});
  };
  refused("exchange.store=all", "exchange.store = \"sharded\"");
  refused("exchange.payload=factors", "exchange.payload = \"gradient\"");
  refused("optimizer.clip_norm=1", "no clip_norm");
  refused("optimizer.rule=lars", "no trust ratios");
  refused("train.loss_scale=8", "train.loss_scale");
  refused("optimizer.variance_reduction=svrg", "optimizer.variance_reduction");
}

}  // namespace
}  // namespace tutti
