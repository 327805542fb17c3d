// SPDX-License-Identifier: Apache-2.0
// Rules, rates and growing batches in whole runs, by recipe.
#include "tutti/checkpoint/safetensors.h"
#include "tutti/train/train.h"

#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>

namespace tutti {
namespace {

using Strings = std::vector<std::string>;
using Weights = std::map<std::string, std::vector<double>>;

// The weights after a run of the small recipe with these changes.
Weights trained(const Strings& changes, TrainSummary* summary = nullptr) {
  const TemporaryFolder folder;
  const TrainSummary made = train(small_job(folder, changes), {});
  if (summary != nullptr) *summary = made;
  const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
  Weights weights;
  for (const NamedTensor& entry : file.tensors) {
    const auto* values = entry.tensor.as<double>();
    weights[entry.name].assign(values, values + entry.tensor.count());
  }
  return weights;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double largest_difference(const Weights& a, const Weights& b) {
  double largest = 0;
  for (const auto& [name, values] : a) largest = std::max(largest, distance(values, b.at(name)));
  return largest;
}

TEST(Optimizers, AStepOfLarsIsAPartOfEachLayersWeightsI10) {
  const Strings lars = {"train.steps=1", "optimizer.rule=lars", "optimizer.momentum=0",
                        "optimizer.trust=0.05"};
  Strings moving = lars, resting = lars;
  moving.emplace_back("optimizer.rate=0.3");
  resting.emplace_back("optimizer.rate=0");
  const Weights after = trained(moving), before = trained(resting);
  int layers = 0;
  for (const auto& [name, w] : before) {
    if (!name.ends_with("weight")) continue;
    const std::vector<double> zero(w.size());
    EXPECT_NEAR(distance(after.at(name), w) / distance(w, zero), 0.3 * 0.05, 1e-12) << name;
    ++layers;
  }
  EXPECT_EQ(layers, 2);
}

// Norms of parts that ranks own are summed over ranks, and over the pieces that large ranges are
// cut into.
TEST(Optimizers, TrustRatiosAreTheSameWhoeverUpdatesI10) {
  for (const char* rule : {"optimizer.rule=lars", "optimizer.rule=lamb"})
    for (const char* clip : {"optimizer.clip_norm=0", "optimizer.clip_norm=0.1"}) {
      const Strings one = {rule, clip, "model.hidden=[40,9]", "optimizer.weight_decay=0.01",
                           "optimizer.rate=0.1"};
      const Weights alone = trained(one);
      for (const char* ranks : {"partition.data=2", "partition.data=3"})
        for (const char* shard : {"exchange.store=all", "exchange.store=sharded"})
          for (const char* block : {"exchange.block_bytes=512", "exchange.block_bytes=1000000"}) {
            Strings many = one;
            many.insert(many.end(), {ranks, shard, block});
            EXPECT_LT(largest_difference(trained(many), alone), 1e-10)
                << rule << " " << ranks << " " << shard << " " << block;
          }
    }
}

TEST(Optimizers, FastLoopsOfEveryRuleFollowTheReference) {
  for (const Rule& rule : rules()) {
    const Strings changes = {"optimizer.rule=" + rule.name, "optimizer.rate=0.01",
                             "optimizer.weight_decay=0.01", "model.hidden=[40]"};
    Strings fast = changes;
    fast.insert(fast.end(), {"machine.backend=cpu", "train.dtype=f32"});
    const TemporaryFolder folder;
    train(small_job(folder, fast), {});
    const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
    for (const auto& [name, values] : trained(changes)) {
      const float* narrow = file.find(name)->as<float>();
      for (std::size_t i = 0; i < values.size(); ++i)  // 50 steps in single precision
        EXPECT_NEAR(static_cast<double>(narrow[i]), values[i], 5e-4) << rule.name << " " << name;
    }
  }
}

// A network at 32 times the batch: 64–32–10, tanh, 1,000 samples in 10 clusters.
TEST(Optimizers, WarmupHelpsALargeBatchI09) {
  const auto loss_with = [](const Strings& changes) {
    Strings all = {"model.hidden=[32]",        "model.activation=tanh", "data.shape=[64]",
                   "data.classes=10",          "data.count=1000",       "data.noise=2",
                   "train.batch=512",          "train.steps=40",        "optimizer.base_batch=16",
                   "optimizer.scaling=linear", "optimizer.rate=0.2"};
    all.insert(all.end(), changes.begin(), changes.end());
    const TemporaryFolder folder;
    try {
      return train(small_job(folder, all), {}).test_loss;
    } catch (const Error&) {
      return 1e9;  // it diverged
    }
  };
  const double plain = loss_with({});
  const double warm = loss_with({"optimizer.warmup_steps=20", "optimizer.warmup_start=1"});
  EXPECT_LT(warm, 0.9 * plain);
}

std::vector<nlohmann::json> steps_of_record(const TemporaryFolder& folder) {
  std::ifstream file(folder.file("small.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);)
    if (auto json = nlohmann::json::parse(line); json["kind"] == "step") lines.push_back(json);
  return lines;
}

// 60 samples in batches of 4, 12, 36: each epoch is whole, and fewer updates make it.
TEST(Optimizers, TheBatchGrowsDuringTheRunI11) {
  const Strings growing = {"train.batch=4",           "train.steps=0",
                           "train.epochs=4",          "train.log_every=1",
                           "optimizer.schedule=step", "optimizer.milestones=[15, 20]",
                           "optimizer.factor=0.34",   "optimizer.grow_batch_to=36"};
  const TemporaryFolder folder;
  const TrainSummary summary = train(small_job(folder, growing), {});
  EXPECT_EQ(summary.epochs_done, 4);
  // 15 steps of 4; 5 of 8 and, from the middle of the second epoch, of 36 (1/0.34² = 8.65 times).
  const auto lines = steps_of_record(folder);
  EXPECT_EQ(summary.steps_done, static_cast<std::int64_t>(lines.size()));
  EXPECT_LT(summary.steps_done, 60) << "fewer updates than with batches of 4";
  EXPECT_EQ(lines[14]["epoch"], 1.0);
  EXPECT_NEAR(lines[19]["epoch"].get<double>(), 1 + 40.0 / 60, 1e-12);
  EXPECT_DOUBLE_EQ(lines[15]["rate"].get<double>(), 0.05 * 0.34 * 2);
  EXPECT_EQ(lines.back()["epoch"], 4.0);
}

TEST(Optimizers, GrowingBatchesResumeBitForBitAndSplitOverRanksI11) {
  const Strings growing = {"train.batch=4",           "train.steps=40",
                           "optimizer.schedule=step", "optimizer.every=12",
                           "optimizer.factor=0.5",    "optimizer.grow_batch_to=30"};
  const TemporaryFolder whole, parts;
  train(small_job(whole, growing), {});
  int steps = 0;
  train(small_job(parts, growing), {.stop_signal = [&] { return ++steps == 17 ? 15 : 0; }});
  train(small_job(parts, growing), {.resume = true});
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
  Strings ranks = growing;
  ranks.emplace_back("partition.data=2");
  EXPECT_LT(largest_difference(trained(ranks), trained(growing)), 1e-10);
}

TEST(Optimizers, RatesOfTheRecipeReachTheRecordI02) {
  const std::vector<std::pair<Strings, double>> cases = {
      {{"optimizer.schedule=polynomial", "optimizer.power=2"}, 0.05 * 0.36},
      {{"optimizer.schedule=exponential", "optimizer.every=20", "optimizer.factor=0.5"}, 0.025},
      {{"optimizer.schedule=inverse", "optimizer.every=20"}, 0.025},
      {{"optimizer.schedule=restarts", "optimizer.every=20"}, 0.05},
      {{"optimizer.scaling=linear", "optimizer.base_batch=3"}, 0.2},
      {{"optimizer.scaling=square_root", "optimizer.base_batch=3"}, 0.1}};
  for (const auto& [changes, rate] : cases) {
    const TemporaryFolder folder;
    Strings all = changes;
    all.emplace_back("train.log_every=21");  // the update that 20 others precede
    train(small_job(folder, all), {});
    EXPECT_NEAR(steps_of_record(folder).at(0)["rate"].get<double>(), rate, 1e-15) << changes[0];
  }
}

}  // namespace
}  // namespace tutti
