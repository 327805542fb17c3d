// SPDX-License-Identifier: Apache-2.0
// What a run watches of itself: the best weights, no more progress, a loss that runs away; and what
// it saves by the clock and when it fails.
#include "tutti/train/watch.h"

#include "tutti/train/resume.h"
#include "tutti/train/train.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cmath>
#include <fstream>
#include <memory>

namespace tutti {
namespace {

std::vector<nlohmann::json> lines_of_kind(const TemporaryFolder& folder, const std::string& kind) {
  std::ifstream file(folder.file("small.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line));
    if (lines.back()["kind"] != kind) lines.pop_back();
  }
  return lines;
}

TEST(Watch, TakesTheBestByItsMetric) {
  Watch accuracy("auto", 2, /*classes=*/true);
  EXPECT_TRUE(accuracy.improves({.loss = 3, .accuracy = 0.5}));
  EXPECT_FALSE(accuracy.improves({.loss = 1, .accuracy = 0.5}));
  EXPECT_FALSE(accuracy.exhausted());
  Watch resumed("auto", 2, true);
  resumed.restore(accuracy.note());
  EXPECT_EQ(resumed.note(), accuracy.note());
  EXPECT_FALSE(resumed.improves({.loss = 1, .accuracy = 0.4}));
  EXPECT_TRUE(resumed.exhausted());
  EXPECT_TRUE(resumed.improves({.loss = 9, .accuracy = 0.6}));
  EXPECT_FALSE(resumed.exhausted());

  Watch loss("auto", 0, /*classes=*/false);
  EXPECT_TRUE(loss.improves({.loss = 3}));
  EXPECT_FALSE(loss.improves({.loss = 3}));
  EXPECT_TRUE(loss.improves({.loss = 2}));
  EXPECT_FALSE(loss.improves({.loss = INFINITY}));
  Watch unlucky("loss", 0, true);
  EXPECT_FALSE(unlucky.improves({.loss = NAN}));
  EXPECT_TRUE(unlucky.improves({.loss = 9}));
  unlucky.restore(resumed.note());  // of accuracies
  EXPECT_TRUE(unlucky.improves({.loss = 8}));
  expect_error([] { Watch("accuracy", 0, false); }, {"train.watch", "no classes"});
  Watch none("none", 0, true);
  EXPECT_FALSE(none.improves({.accuracy = 1}));
  expect_error([&] { none.restore("1 x"); }, {"damaged", "1 x"});
}

TEST(Watch, ALossThatRunsAwayHasDiverged) {
  Watch watch("auto", 0, true);
  for (int i = 0; i < 12; ++i) watch.see(i == 2 ? 6 : 1.5);
  EXPECT_FALSE(watch.diverged());
  for (int i = 0; i < 60; ++i) watch.see(25);
  EXPECT_TRUE(watch.diverged());
  // A lucky first batch of a network that is trained already.
  Watch tuned("auto", 0, true);
  for (int i = 0; i < 60; ++i) tuned.see(i == 0 ? 1e-6 : 1e-3);
  EXPECT_FALSE(tuned.diverged());
}

// The best of the evaluations in the record is what the file holds.
TEST(Watch, TheBestWeightsAreKept) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"})
    for (const char* shard : {"exchange.store=sharded", "exchange.store=sharded_weights"}) {
      const TemporaryFolder folder;
      // Steps that are too long: the test loss goes up and down.
      const Job job = small_job(
          folder, {"optimizer.rate=2.5", "train.watch=loss", "data.noise=3", ranks, shard});
      const TrainSummary summary = train(job, {});
      EXPECT_EQ(summary.best_path, folder.file("small.best"));
      double best = 1e300;
      for (const auto& line : lines_of_kind(folder, "evaluation"))
        best = std::min(best, line["loss"].get<double>());
      EXPECT_NEAR(evaluate(job, folder.file("small.best")).loss, best, 1e-12 * best);
      EXPECT_GT(evaluate(job, folder.file("small")).loss, best) << "the test can fail";
    }
}

TEST(Watch, PatienceEndsTheRun) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder whole, parts;
    // It is perfect soon: accuracy can't improve any more.
    const std::vector<std::string> changes = {"train.steps=0", "train.epochs=100",
                                              "train.patience=3", ranks};
    const TrainSummary summary = train(small_job(whole, changes), {});
    EXPECT_EQ(summary.why, TrainSummary::patience);
    const std::int64_t best_step = lines_of_kind(whole, "best").back()["step"];
    EXPECT_EQ(summary.steps_done, best_step + 3 * 5);
    // Interrupted in between, it waits as long.
    Script script{.signal_after = static_cast<int>(best_step) + 7};
    train(small_job(parts, changes), script.options());
    EXPECT_EQ(train(small_job(parts, changes), {.resume = true}).steps_done, summary.steps_done);
    EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
  }
}

TEST(Watch, DivergenceIsSaid) {
  const TemporaryFolder folder;
  std::string said;
  TrainOptions options;
  options.print = [&](const std::string& line) { said += line + "\n"; };
  const TrainSummary summary =
      train(small_job(folder, {"optimizer.rule=sgd", "optimizer.rate=3", "model.hidden=[]",
                               "data.targets=2", "train.steps=60"}),
            options);
  EXPECT_TRUE(summary.diverged);
  EXPECT_NE(said.find("the loss has diverged"), std::string::npos) << said;
  EXPECT_EQ(lines_of_kind(folder, "summary").back()["diverged"], true);
}

// One second per step.
TEST(Watch, CheckpointsAreWrittenByTheClock) {
  const TemporaryFolder folder;
  Script script;
  train(small_job(folder, {"train.steps=20", "train.checkpoint_seconds=6"}), script.options());
  std::vector<std::int64_t> steps;
  for (const auto& line : lines_of_kind(folder, "checkpoint")) steps.push_back(line["step"]);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{6, 12, 18, 20}));
}

TEST(Watch, SeveralRanksWriteThemTogether) {
  const TemporaryFolder folder;
  Script script;
  train(small_job(folder, {"train.steps=20", "train.checkpoint_seconds=6", "partition.data=2"}),
        script.options());
  const auto lines = lines_of_kind(folder, "checkpoint");
  EXPECT_GE(lines.size(), 3u);
  EXPECT_LE(lines.size(), 5u);
}

// Samples that can be read so often, and then no more: as files that are deleted meanwhile.
class Vanishing : public data::Dataset {
 public:
  Vanishing(std::unique_ptr<data::Dataset> samples, std::int64_t reads)
      : samples_(std::move(samples)), reads_(reads) {
    static_cast<Dataset&>(*this) = *samples_;
  }
  void read(std::span<const std::int64_t> indices, const data::Samples& into) const override {
    if (--reads_ < 0) throw Error("image 7 is gone");
    samples_->read(indices, into);
  }

 private:
  std::unique_ptr<data::Dataset> samples_;
  mutable std::atomic<std::int64_t> reads_;
};

Job vanishing_job(const TemporaryFolder& folder, std::int64_t reads) {
  Job job = small_job(folder);
  const auto open = job.dataset.open;
  job.dataset.open = [=](const Settings& settings, data::Split split) {
    auto samples = open(settings, split);
    if (split == data::Split::test) return samples;
    return std::unique_ptr<data::Dataset>(new Vanishing(std::move(samples), reads));
  };
  return job;
}

TEST(Watch, AFailureSavesTheStepsBefore) {
  const TemporaryFolder whole, parts;
  train(small_job(whole), {});
  expect_error([&] { train(vanishing_job(parts, 17), {}); },
               {"image 7 is gone", "the weights of step 17 are in", "small.safetensors"});
  EXPECT_EQ(read_checkpoint_state(parts.file("small")).step, 17);
  train(small_job(parts), {.resume = true});
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
}

// The rate may change when a run is resumed, with a remark; nothing else of the optimizer may.
TEST(Watch, TheRateMayChangeOnResume) {
  const TemporaryFolder folder;
  train(small_job(folder, {"train.steps=5"}), {});
  std::string said;
  TrainOptions options{.resume = true};
  options.print = [&](const std::string& line) { said += line + "\n"; };
  train(small_job(folder, {"train.steps=10", "optimizer.rate=0.01"}), options);
  EXPECT_NE(said.find("optimizer.rate was 0.05 and is 0.01"), std::string::npos) << said;
  expect_error([&] { train(small_job(folder, {"optimizer.rule=adam"}), {.resume = true}); },
               {"optimizer.rule", "momentum", "adam"});
}

}  // namespace
}  // namespace tutti
