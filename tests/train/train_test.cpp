// SPDX-License-Identifier: Apache-2.0
// Whole runs: when they stop, what they write and say, and how they are resumed.
#include "tutti/train/train.h"

#include "tutti/checkpoint/safetensors.h"
#include "tutti/recipe/default_recipe.h"
#include "tutti/recipe/make_job.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>

namespace tutti {
namespace {

std::vector<nlohmann::json> record_lines(const TemporaryFolder& folder) {
  std::ifstream file(folder.file("small.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(Train, StopsAtTheExactStepA06) {
  struct Case {
    std::vector<std::string> changes;
    TrainSummary::Why why;
    std::int64_t steps;
  };
  const std::vector<Case> cases = {
      {{"train.steps=7"}, TrainSummary::steps, 7},
      {{"train.steps=0", "train.epochs=2"}, TrainSummary::epochs, 10},
      {{"train.steps=7", "train.epochs=2"}, TrainSummary::steps, 7},
      {{"train.steps=0", "train.wall_time=8"}, TrainSummary::wall_time, 8},
      {{"train.steps=0", "train.target=0.01"}, TrainSummary::target, 5},
      {{"train.steps=0", "train.target=0.01", "train.evaluate_every=3"}, TrainSummary::target, 15}};
  for (const Case& one : cases)
    for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
      const TemporaryFolder folder;
      std::vector<std::string> changes = one.changes;
      changes.emplace_back(ranks);
      Script script;
      const TrainSummary summary = train(small_job(folder, changes), script.options());
      EXPECT_EQ(summary.why, one.why) << one.changes.back();
      EXPECT_EQ(summary.steps_done, one.steps) << one.changes.back();
      EXPECT_EQ(summary.epochs_done, one.steps / 5);
      EXPECT_EQ(script.steps, one.steps) << "no step was done after the end";
      EXPECT_TRUE(summary.evaluated);
      EXPECT_EQ(exit_code(summary), 0);
    }
}

TEST(Train, ASignalEndsTheRunAfterItsStep) {
  for (const char* ranks : {"partition.data=1", "partition.data=3"}) {
    const TemporaryFolder folder;
    Script script{.signal_after = 4, .signal = SIGUSR1};
    std::string printed;
    TrainOptions options = script.options();
    options.print = [&](const std::string& line) { printed += line + "\n"; };
    options.resume_command = [](const std::string&) { return "tutti train small.toml --resume"; };
    const TrainSummary summary = train(small_job(folder, {ranks}), options);
    EXPECT_EQ(summary.why, TrainSummary::signal);
    EXPECT_EQ(summary.signal_number, SIGUSR1);
    EXPECT_EQ(summary.steps_done, 4);
    EXPECT_EQ(exit_code(summary), 128 + SIGUSR1);
    EXPECT_EQ(read_checkpoint_state(folder.file("small")).step, 4);
    EXPECT_NE(printed.find("to go on: tutti train small.toml --resume"), std::string::npos);
  }
  EXPECT_EQ(exit_code({.why = TrainSummary::signal, .signal_number = SIGINT}), 130);
}

TEST(Train, ResumesBitForBitL01) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"})
    for (const char* rule : {"optimizer.rule=momentum", "optimizer.rule=adam"})
      for (int interrupted_after : {50, 43}) {  // between epochs and within one
        const std::vector<std::string> changes = {"train.steps=100", ranks, rule,
                                                  "optimizer.schedule=cosine"};
        const TemporaryFolder whole, parts;
        train(small_job(whole, changes), {});
        Script script{.signal_after = interrupted_after};
        EXPECT_EQ(train(small_job(parts, changes), script.options()).steps_done, interrupted_after);
        EXPECT_NE(weights_bytes(parts), weights_bytes(whole));
        const TrainSummary summary = train(small_job(parts, changes), {.resume = true});
        EXPECT_EQ(summary.steps_done, 100);
        EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole)) << ranks << " " << rule;
      }
}

TEST(Train, RegularCheckpointsCanBeResumed) {
  const TemporaryFolder whole, parts;
  train(small_job(whole, {"train.steps=40", "partition.data=2"}), {});
  int steps = 0;
  TrainOptions crash;
  crash.stop_signal = [&]() -> int {
    if (++steps == 33) throw Error("the power is gone");
    return 0;
  };
  expect_error(
      [&] {
        train(small_job(parts, {"train.steps=40", "train.checkpoint_every=10", "partition.data=2"}),
              crash);
      },
      {"the power is gone"});
  EXPECT_EQ(read_checkpoint_state(parts.file("small")).step, 30);
  train(small_job(parts, {"train.steps=40", "train.resume=true", "partition.data=2"}), {});
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
}

TEST(Train, ResumingAFinishedRunDoesNothing) {
  const TemporaryFolder folder;
  train(small_job(folder, {"train.steps=10"}), {});
  const std::string before = checkpoint_bytes(folder);
  const TrainSummary summary = train(small_job(folder, {"train.steps=10"}), {.resume = true});
  EXPECT_EQ(summary.steps_done, 10);
  EXPECT_TRUE(summary.evaluated);
  EXPECT_EQ(checkpoint_bytes(folder), before);
}

TEST(Train, GuardNamesAnOperator) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder folder;
    expect_error(
        [&] {
          train(small_job(folder, {"optimizer.rate=1e300", ranks}), {});
        },
        {"step ", "not finite", " of fc", "optimizer.rate"});
    EXPECT_FALSE(std::filesystem::exists(folder.file("small.safetensors")));
    EXPECT_EQ(record_lines(folder).back()["kind"], "failure");
  }
}

TEST(Train, RecordTellsTheRun) {
  const TemporaryFolder folder;
  TrainOptions options;
  options.version = "1.2.3";
  train(small_job(folder, {"train.log_every=4", "train.steps=10"}), options);
  const std::vector<nlohmann::json> lines = record_lines(folder);
  std::vector<std::string> kinds;
  for (const auto& line : lines) kinds.push_back(line.at("kind"));
  EXPECT_EQ(kinds,
            (std::vector<std::string>{"settings", "step", "evaluation", "best", "timeline", "step",
                                      "evaluation", "best", "checkpoint", "confusion", "summary"}));
  EXPECT_EQ(lines[0].at("version"), "1.2.3");
  EXPECT_EQ(lines[0].at("recipe").at("train").at("batch"), 12);
  EXPECT_EQ(lines[0].at("parameters"), 6 * 8 + 8 + 8 * 3 + 3);
  EXPECT_GE(lines[0].at("machine").at("cores"), 1);
  EXPECT_EQ(lines[1].at("step"), 4);
  for (const char* key : {"loss", "accuracy", "samples_per_second", "gradient_norm", "rate"})
    EXPECT_TRUE(lines[1].at(key).is_number()) << key;
  EXPECT_GT(lines[1].at("gradient_norm"), 0);
  EXPECT_EQ(lines[1].at("rate"), 0.05);
  EXPECT_EQ(lines[1].at("sent_bytes"), 0);
  EXPECT_EQ(lines[2].at("samples"), 30);
  EXPECT_EQ(lines[4].at("step_seconds").size(), 5u);  // steps 3 to 7; the median of them is kept
  EXPECT_GT(lines[4].at("events").size(), 8u);
  EXPECT_EQ(lines.back().at("why"), "steps");
  EXPECT_EQ(lines.back().at("steps"), 10);
}

// Every rank's nodes stand in the trace; messages have their bytes, and the record counts them.
TEST(Train, TraceShowsAllRanks) {
  const TemporaryFolder folder;
  TrainOptions options;
  options.trace = folder.file("trace.json");
  options.trace_steps = 2;
  train(small_job(folder, {"train.steps=5", "train.log_every=1", "partition.data=3"}), options);
  const auto trace = nlohmann::json::parse(read_bytes(options.trace));
  std::map<int, int> kernels, messages;
  std::int64_t bytes = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const int rank = event.at("pid");
    EXPECT_GE(event.at("ts"), 0);
    ++(event.at("tid") == 0 ? kernels : messages)[rank];
    if (event.at("tid") != 0 && rank == 0)
      bytes += event.at("args").at("bytes").get<std::int64_t>();
  }
  EXPECT_EQ(kernels.size(), 3u);
  EXPECT_EQ(messages.size(), 3u);
  EXPECT_GE(bytes, 2 * 4 * (6 * 8 + 8 + 8 * 3 + 3));  // the gradients of both steps
  const auto lines = record_lines(folder);
  const auto step = std::find_if(lines.begin(), lines.end(),
                                 [](const auto& line) { return line.at("kind") == "step"; });
  EXPECT_GT(step->at("sent_bytes"), 0);
  EXPECT_EQ(lines.back().at("sent_bytes").get<std::int64_t>() % 5, 0);
}

// What the planner says is what the process grows by, but for code, tables and batches.
TEST(Train, PlannedMemoryIsWhatIsUsed) {
  const TemporaryFolder folder;
  Recipe recipe = parse_recipe(R"([model]
name = "resnet20"
[data]
name = "synthetic"
shape = [3, 32, 32]
count = 128
[train]
batch = 128
steps = 2
evaluate_every = 0
checkpoint = "none"
record = "none"
[machine]
threads = 1
)",
                               "memory.toml");
  const TrainSummary summary = train(make_job(recipe, default_lists()), {});
  const double planned = static_cast<double>(summary.memory.planned_bytes);
  EXPECT_GT(planned, 1e8);
  EXPECT_LT(static_cast<double>(summary.memory.grown_bytes), 1.1 * planned + 2e7);
  EXPECT_GT(static_cast<double>(summary.memory.grown_bytes), 0.9 * planned);
}

TEST(Train, ResumingGoesOnWithTheRecord) {
  const TemporaryFolder folder;
  train(small_job(folder, {"train.steps=10"}), {});
  const std::size_t before = record_lines(folder).size();
  train(small_job(folder, {"train.steps=20"}), {.resume = true});
  const std::vector<nlohmann::json> lines = record_lines(folder);
  ASSERT_GT(lines.size(), before);
  EXPECT_EQ(lines[before].at("first_step"), 10);
  train(small_job(folder, {"train.steps=10"}), {.overwrite = true});
  EXPECT_EQ(record_lines(folder).size(), before) << "a new run begins a new record";
}

TEST(Train, ProgressOnRequest) {
  const TemporaryFolder folder;
  Script script;
  TrainOptions options = script.options();
  std::vector<std::string> progress, printed;
  options.progress = [&](const std::string& line) { progress.push_back(line); };
  options.print = [&](const std::string& line) { printed.push_back(line); };
  train(small_job(folder, {"train.steps=0", "train.epochs=2"}), options);
  ASSERT_FALSE(progress.empty());
  EXPECT_NE(progress.back().find(" left"), std::string::npos) << progress.back();
  ASSERT_EQ(printed.size(), 4u) << "a heading, two epochs, the ending";
  EXPECT_EQ(printed[1].find("epoch 1/2  loss "), 0u) << printed[1];
}

TEST(Train, RegressionFallsBelowItsTarget) {
  const TemporaryFolder folder;
  const TrainSummary summary = train(small_job(folder, {"data.targets=2", "train.steps=0",
                                                        "train.target=0.4", "train.wall_time=20"}),
                                     {});
  EXPECT_EQ(summary.why, TrainSummary::target);
  EXPECT_LE(summary.test_loss, 0.4);
  EXPECT_EQ(summary.test_accuracy, 0);
}

TEST(Train, WithoutFilesAndEvaluation) {
  const TemporaryFolder folder;
  const TrainSummary summary = train(
      small_job(folder, {"train.checkpoint=none", "train.record=none", "train.evaluate_every=0"}),
      {});
  EXPECT_FALSE(summary.evaluated);
  EXPECT_EQ(summary.checkpoint_path, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Train, EveryRankNeedsSamples) {
  const TemporaryFolder folder;
  // 60 = 4 · 14 + 4 and 60 = 59 + 1
  EXPECT_EQ(train(small_job(folder, {"train.batch=14", "partition.data=4", "train.steps=5"}), {})
                .steps_done,
            5);
  expect_error(
      [&] {
        train(small_job(folder, {"train.batch=59", "partition.data=2"}), {.overwrite = true});
      },
      {"last batch", "1 samples", "2 ranks", "drop"});
  EXPECT_EQ(train(small_job(folder, {"train.batch=59", "partition.data=2", "train.last_batch=drop",
                                     "train.steps=2"}),
                  {.overwrite = true})
                .steps_done,
            2);
}

TEST(Train, ProductsInBf16LearnTheSame) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this processor has no bf16";
  const TemporaryFolder folder;
  const auto loss_with = [&](const char* precision) {
    return train(small_job(folder, {"model.hidden=[64]", "data.shape=[40]", "train.dtype=f32",
                                    "machine.backend=cpu", "train.steps=20",
                                    std::string("kernels.precision=") + precision}),
                 {.overwrite = true})
        .test_loss;
  };
  const double exact = loss_with("f32"), rounded = loss_with("bf16");
  EXPECT_NE(exact, rounded);
  EXPECT_NEAR(exact, rounded, 0.02 * exact);
  expect_error(
      [&] {
        train(small_job(folder, {"train.dtype=f32", "kernels.precision=bf16"}),
              {.overwrite = true});
      },
      {"kernels.precision", "bf16", "reference", "use f32"});
}

TEST(Train, FilesThatCantBeWritten) {
  const TemporaryFolder folder;
  expect_error([&] { train(small_job(folder, {"train.checkpoint=/nowhere/x"}), {}); },
               {"/nowhere", "No such file", "train.checkpoint"});
  expect_error([&] { train(small_job(folder, {"train.record=/nowhere/x"}), {}); }, {"/nowhere/x"});
}

TEST(Train, TestDataMayBeMissingOnlyWithoutEvaluation) {
  const TemporaryFolder folder;
  write_bytes(folder.file("images"),
              std::string("\0\0\10\2\0\0\0\4\0\0\0\3", 12) + std::string(12, 7));
  write_bytes(folder.file("labels"),
              std::string("\0\0\10\1\0\0\0\4", 8) + std::string("\0\1\0\1", 4));
  const std::string text =
      "[model]\nname = \"mlp\"\nhidden = [4]\n[data]\nname = \"idx\"\nimages = \"" +
      folder.file("images") + "\"\nlabels = \"" + folder.file("labels") +
      "\"\n[train]\nsteps = 2\nbatch = 2\nrecord = \"none\"\ncheckpoint = \"none\"\n";
  Recipe recipe = parse_recipe(text, "idx.toml");
  expect_error([&] { train(make_job(recipe, default_lists()), {}); },
               {"idx.toml:4", "test_images", "train.evaluate_every = 0"});
  set(recipe, "train.evaluate_every=0");
  EXPECT_EQ(train(make_job(recipe, default_lists()), {}).steps_done, 2);
}

}  // namespace
}  // namespace tutti
