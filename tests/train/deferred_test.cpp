// SPDX-License-Identifier: Apache-2.0
// Training on the back end `deferred` gives the bits of `reference`: nothing on the way assumes
// that the host can read the memory, or that work is done when it has been launched.
#include "tutti/train/evaluate.h"
#include "tutti/train/predict.h"

#include "expect_error.h"
#include "train/small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace tutti {
namespace {

using Words = std::vector<std::string>;

Words on(const std::string& backend, const Words& more) {
  Words all = {"machine.backend=" + backend};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string trained_weights(const std::string& backend, const Words& changes) {
  const TemporaryFolder folder;
  train(small_job(folder, on(backend, changes)), {});
  return weights_bytes(folder);
}

void expect_same_weights(const Words& changes) {
  EXPECT_TRUE(trained_weights("deferred", changes) == trained_weights("reference", changes))
      << fmt::format("{}", fmt::join(changes, " "));
}

TEST(Deferred, TrainsNetworksAsTheReferenceDoes) {
  expect_same_weights({"train.steps=12"});
  expect_same_weights({"train.steps=4", "train.accumulate=3", "optimizer.clip_norm=0.5"});
  expect_same_weights({"train.steps=4", "optimizer.rule=lars", "optimizer.rate=0.01"});
  const Words tiny = {"train.dtype=f32", "train.steps=2", "train.batch=4", "data.count=8",
                      "data.test_count=4"};
  for (const auto& [model, shape] : {std::pair("lenet", "[1,20,20]"), {"resnet20", "[3,8,8]"}}) {
    Words changes = tiny;
    changes.push_back(std::string("model.name=") + model);
    changes.push_back(std::string("data.shape=") + shape);
    expect_same_weights(changes);
  }
}

TEST(Deferred, TwoRanksGiveTheBitsOfTheReference) {
  for (const char* shard :
       {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"})
    for (const char* precision : {"codec.name=none", "codec.name=bf16"})
      expect_same_weights({"partition.data=2", "train.steps=6", "train.dtype=f32",
                           "exchange.block_bytes=256", shard, precision});
  expect_same_weights(
      {"partition.data=3", "train.steps=6", "exchange.across_steps=on", "exchange.block_bytes=64"});
}

// The state of the optimizer comes back as it was, and goes on as if nothing had been.
TEST(Deferred, GoesOnFromACheckpoint) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder parts;
    train(small_job(parts, on("deferred", {ranks, "train.steps=7"})), {});
    train(small_job(parts, on("deferred", {ranks, "train.steps=12"})), {.resume = true});
    EXPECT_TRUE(weights_bytes(parts) == trained_weights("reference", {ranks, "train.steps=12"}))
        << ranks;
  }
}

// What a record says of each step, without its times.
std::vector<nlohmann::json> steps_in_record(const TemporaryFolder& folder) {
  std::vector<nlohmann::json> steps;
  std::istringstream lines(read_bytes(folder.file("small.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json object = nlohmann::json::parse(line);
    if (object["kind"] != "step" && object["kind"] != "evaluation") continue;
    for (const char* measured : {"seconds", "samples_per_second"}) object.erase(measured);
    steps.push_back(object);
  }
  return steps;
}

// Behind the launch of each step: how many results the host has read.
std::vector<int> results_read(const std::string& backend, const Words& changes,
                              std::vector<nlohmann::json>& record) {
  const TemporaryFolder folder;
  int read = 0;
  std::vector<int> after_launch;
  TrainOptions options;
  options.beat = [&] { ++read; };
  options.stop_signal = [&] {
    after_launch.push_back(read);
    return 0;
  };
  train(small_job(folder, on(backend, changes)), options);
  record = steps_in_record(folder);
  return after_launch;
}

TEST(Deferred, TheHostReadsResultsSomeStepsLate) {
  // With a test after 5 steps, for which all results must be there.
  Words changes = {"train.steps=8", "train.log_every=1"};
  std::vector<nlohmann::json> late, at_once;
  EXPECT_EQ(results_read("reference", changes, at_once), (std::vector{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(results_read("deferred", changes, late), (std::vector{0, 0, 1, 2, 5, 5, 5, 8}));
  EXPECT_EQ(late, at_once);
  EXPECT_EQ(late.size(), 8u + 2u) << "steps and evaluations";
  // Where ranks are several, the same steps are recorded, too.
  changes.emplace_back("partition.data=2");
  results_read("reference", changes, at_once);
  results_read("deferred", changes, late);
  EXPECT_EQ(late, at_once);
  // A scale of the loss that follows the results leaves no room for being late.
  EXPECT_EQ(results_read("deferred", {"train.steps=3", "train.loss_scale=8"}, late),
            (std::vector{1, 2, 3}));
}

// A word that one rank says in one step alone is not lost among steps that end together.
TEST(Deferred, RanksStopTogether) {
  for (const int after : {3, 4, 7}) {
    const TemporaryFolder folder;
    Script script{.signal_after = after};
    const TrainSummary stopped =
        train(small_job(folder, on("deferred", {"partition.data=2", "train.evaluate_every=0"})),
              script.options());
    EXPECT_EQ(stopped.why, TrainSummary::signal);
    EXPECT_LE(stopped.steps_done, after + 3);
    train(small_job(folder, on("deferred", {"partition.data=2", "train.steps=12"})),
          {.resume = true});
    EXPECT_TRUE(weights_bytes(folder) ==
                trained_weights("reference", {"partition.data=2", "train.steps=12"}));
  }
}

TEST(Deferred, AnAsynchronousWorkerGivesTheBitsOfTheReference) {
  expect_same_weights({"exchange.gate=async", "train.steps=12", "exchange.block_bytes=64"});
}

TEST(Deferred, EvaluatesAndPredicts) {
  const TemporaryFolder folder;
  const TrainSummary summary = train(small_job(folder, on("deferred", {})), {});
  const std::vector<float> x(18, 0.25f);
  std::vector<double> losses, values;
  for (const char* backend : {"reference", "deferred"}) {
    const Job job = small_job(folder, on(backend, {}));
    losses.push_back(evaluate(job, folder.file("small")).loss);
    Predictor predictor(job, trained_network(job, folder.file("small")), folder.file("small"));
    const Predictions made = predictor(x);
    values.insert(values.end(), made.values.begin(), made.values.end());
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[1], summary.test_loss);
  ASSERT_EQ(values.size(), 18u);
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 9, values.begin() + 9));
}

TEST(Deferred, ABadStepIsExplained) {
  for (const Words& way :
       std::vector<Words>{{"partition.data=1"},
                          {"train.accumulate=3"},
                          {"partition.data=2", "exchange.store=sharded"},
                          {"partition.data=2", "exchange.store=sharded_weights"}}) {
    const TemporaryFolder folder;
    Words changes = on("deferred", way);
    changes.emplace_back("optimizer.rate=1e300");
    expect_error([&] { train(small_job(folder, changes), {}); },
                 {"step ", "not finite", " of fc", "optimizer.rate"});
  }
}

TEST(Deferred, HasNoVirtualClock) {
  const TemporaryFolder folder;
  expect_error([&] { small_job(folder, on("deferred", {"machine.transport=sim"})); },
               {"back end 'deferred'", "virtual clock", "cpu"});
}

}  // namespace
}  // namespace tutti
