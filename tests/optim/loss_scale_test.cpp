// SPDX-License-Identifier: Apache-2.0
// Activations in IEEE half and the scale of the loss (G01): small gradients survive, overflow is
// left out on all ranks alike, powers of two change no bit, and runs resume with both.
#include "tutti/optim/loss_scale.h"

#include "tutti/recipe/make_job.h"

#include "exec/training.h"
#include "expect_error.h"
#include "train/small_job.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <fstream>

namespace tutti {
namespace {

Settings train_table(const char* loss_scale, std::int64_t steps = 2) {
  return {{"loss_scale", std::string(loss_scale)}, {"loss_scale_steps", steps}};
}

TEST(LossScale, HalvesAndDoublesG01) {
  LossScale scale(train_table("auto"), "fp16");
  EXPECT_TRUE(scale.active());
  EXPECT_EQ(scale.scale(), 65536);
  EXPECT_TRUE(scale.after_step(false));
  EXPECT_TRUE(scale.after_step(true));
  EXPECT_TRUE(scale.after_step(false));
  EXPECT_EQ(scale.scale(), 16384);
  EXPECT_TRUE(scale.after_step(true));
  EXPECT_EQ(scale.scale(), 16384) << "good steps are counted from the last bad one";
  LossScale other(train_table("dynamic"), "f32");
  other.restore(scale.note());
  for (LossScale* one : {&scale, &other}) {
    EXPECT_TRUE(one->after_step(true));
    EXPECT_EQ(one->scale(), 32768);
    EXPECT_EQ(one->skipped(), 2);
  }
  for (int step = 0; step < 100; ++step) scale.after_step(true);
  EXPECT_EQ(scale.scale(), 16777216) << "2²⁴ at most";
}

TEST(LossScale, GivesUpWhereItCanNotHelp) {
  LossScale dynamic(train_table("dynamic"), "fp16");
  int steps = 1;
  while (dynamic.after_step(false)) ++steps;
  EXPECT_EQ(steps, 17) << "65536 down to 1";
  LossScale constant(train_table("1e30"), "fp16");
  for (steps = 1; constant.after_step(false); ++steps) EXPECT_EQ(constant.scale(), 1e30);
  EXPECT_EQ(steps, 50);
  EXPECT_FALSE(LossScale(train_table("none"), "fp16").active());
  EXPECT_FALSE(LossScale(train_table("auto"), "bf16").active());
  expect_error([] { LossScale(train_table("-3"), "fp16"); }, {"loss_scale", "-3", "dynamic"});
  const TemporaryFolder folder;
  expect_error([&] { small_job(folder, {"train.loss_scale=much"}); },
               {"--set train.loss_scale", "much", "number above 0"});
  expect_error(
      [&] {
        small_job(folder, {"train.loss_scale=8", "optimizer.variance_reduction=svrg"});
      },
      {"train.loss_scale", "svrg"});
}

TEST(LossScale, PowersOfTwoChangeNoBitInDouble) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"})
    for (const char* rule :
         {"optimizer.rule=momentum", "optimizer.rule=adam", "optimizer.rule=lars",
          "optimizer.clip_norm=0.3", "optimizer.clip_value=0.01"}) {
      const TemporaryFolder plain, scaled, dynamic;
      train(small_job(plain, {ranks, rule}), {});
      train(small_job(scaled, {ranks, rule, "train.loss_scale=1024"}), {});
      train(
          small_job(dynamic, {ranks, rule, "train.loss_scale=dynamic", "train.loss_scale_steps=7"}),
          {});
      EXPECT_EQ(weights_bytes(plain), weights_bytes(scaled)) << ranks << " " << rule;
      EXPECT_EQ(weights_bytes(plain), weights_bytes(dynamic)) << ranks << " " << rule;
    }
}

std::vector<float> gradient_with(const char* precision, double loss_scale) {
  test::Training training({.model = "lenet", .batch = 8, .precision = precision});
  for (float& weight : training.sample_weights()) weight *= 1e-6f;
  training.replica().gradient(training.batch(), {.key = 1, .loss_scale = loss_scale},
                              {training.replica().weights(), training.replica().gradients(),
                               training.replica().layer_state()});
  std::vector<float> gradient = training.gradient();
  for (float& g : gradient) g /= static_cast<float>(loss_scale);
  return gradient;
}

// A loss whose gradients are a millionth of the usual ones.
TEST(LossScale, GradientsThatVanishInHalfSurviveG01) {
  const std::vector<float> exact = gradient_with("f32", 1);
  EXPECT_EQ(test::relative_difference(gradient_with("f32", 1048576), exact), 0);
  EXPECT_GT(test::relative_difference(gradient_with("fp16", 1), exact), 0.2);
  // Rounding by 2⁻¹¹ in each of ten operators.
  EXPECT_LT(test::relative_difference(gradient_with("fp16", 1048576), exact), 0.02);
}

Job network_job(const TemporaryFolder& folder, const char* model, const char* shape,
                const std::vector<std::string>& changes) {
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["model"] = {{"name", std::string(model)}};
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
  for (const char* change : {"train.dtype=f32", "machine.backend=cpu", "train.steps=40",
                             "data.count=240", "train.log_every=1"})
    set(recipe, change);
  set(recipe, std::string("data.shape=") + shape);
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(LossScale, NetworksInHalfLearnAsInFloatG01) {
  const std::pair<const char*, const char*> networks[] = {{"lenet", "[1,28,28]"},
                                                          {"resnet20", "[3,8,8]"}};
  for (const auto& [model, shape] : networks) {
    const TemporaryFolder folder;
    const auto loss_with = [&, name = model, size = shape](const char* precision) {
      const TrainSummary summary = train(network_job(folder, name, size,
                                                     {std::string("kernels.precision=") + precision,
                                                      "train.steps=11", "optimizer.rate=0.005"}),
                                         {.overwrite = true});
      EXPECT_EQ(summary.skipped_steps, 0) << name;
      return summary.loss;
    };
    const double exact = loss_with("f32"), rounded = loss_with("fp16");
    EXPECT_NE(exact, rounded);
    // Eleven small steps, each on activations rounded by up to 2⁻¹¹.
    EXPECT_NEAR(exact, rounded, 0.01 * exact) << model;
  }
}

std::vector<nlohmann::json> record_of(const TemporaryFolder& folder) {
  std::ifstream file(folder.file("small.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// In a network whose gradients overflow at first, one rank sees it and all leave the step out.
TEST(LossScale, OverflowIsLeftOutOnAllRanksAndReportedG01) {
  for (const char* ranks : {"partition.data=1", "partition.data=3"})
    for (const char* shard : {"exchange.store=all", "exchange.store=sharded"}) {
      const TemporaryFolder folder;
      std::string printed;
      const std::vector<std::string> changes = {ranks,
                                                shard,
                                                "kernels.precision=fp16",
                                                "train.loss_scale=dynamic",
                                                "optimizer.rate=0",
                                                "train.steps=20",
                                                "train.loss_scale_steps=2"};
      const TrainSummary summary =
          train(network_job(folder, "lenet", "[1,12,12]", changes),
                {.print = [&](const std::string& line) { printed += line + "\n"; }});
      std::int64_t skipped = 0;
      double scale = 65536;
      for (const nlohmann::json& line : record_of(folder)) {
        if (line["kind"] == "step") {
          EXPECT_GE(line["loss_scale"], 1);
        }
        if (line["kind"] != "skipped") continue;
        ++skipped;
        scale = line["loss_scale"];
        EXPECT_EQ(line["next_loss_scale"], scale / 2);
      }
      EXPECT_GE(skipped, 1) << ranks;
      EXPECT_LT(skipped, 10) << ranks;
      EXPECT_EQ(summary.skipped_steps, skipped);
      EXPECT_NE(printed.find("the gradient is not finite at loss scale"), std::string::npos);
      EXPECT_NE(printed.find("left out, next"), std::string::npos);
    }
}

// A step that is left out changes neither weights nor optimizer state, on any rank.
TEST(LossScale, WhatIsLeftOutChangesNothing) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder none, skipped;
    const std::vector<std::string> changes = {ranks, "kernels.precision=fp16",
                                              "optimizer.rule=adam", "train.evaluate_every=0"};
    std::vector<std::string> first = changes, all = changes;
    first.insert(first.end(), {"train.steps=1", "train.loss_scale=1e30"});
    all.insert(all.end(), {"train.steps=9", "train.loss_scale=1e30"});
    EXPECT_EQ(train(network_job(none, "lenet", "[1,12,12]", first), {}).skipped_steps, 1);
    EXPECT_EQ(train(network_job(skipped, "lenet", "[1,12,12]", all), {}).skipped_steps, 9);
    EXPECT_EQ(weights_bytes(none), weights_bytes(skipped));
    std::vector<std::string> hopeless = changes;
    hopeless.insert(hopeless.end(), {"train.steps=60", "train.loss_scale=1e30"});
    const TrainOptions again{.overwrite = true};
    expect_error([&] { train(network_job(skipped, "lenet", "[1,12,12]", hopeless), again); },
                 {"step 49", "the gradient is not finite"});
  }
}

TEST(LossScale, ResumesBitForBitL01) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const TemporaryFolder whole, parts;
    const std::vector<std::string> changes = {ranks, "kernels.precision=fp16",
                                              "optimizer.rule=adam", "train.loss_scale_steps=4"};
    EXPECT_GT(train(network_job(whole, "lenet", "[1,12,12]", changes), {}).skipped_steps, 0);
    int steps = 0;
    train(network_job(parts, "lenet", "[1,12,12]", changes),
          {.stop_signal = [&] { return ++steps == 18 ? SIGTERM : 0; }});
    EXPECT_NE(weights_bytes(parts), weights_bytes(whole));
    train(network_job(parts, "lenet", "[1,12,12]", changes), {.resume = true});
    EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole)) << ranks;
  }
}

}  // namespace
}  // namespace tutti
