// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/default_recipe.h"
#include "tutti/recipe/make_job.h"
#include "tutti/recipe/tables.h"
#include "tutti/train/replica_options.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

const std::string good = R"([model]
name = "mlp"
[data]
name = "synthetic"
[train]
epochs = 2
)";

Job job_of(const std::string& text) {
  return make_job(parse_recipe(text, "r.toml"), default_lists());
}

Job job_with(std::initializer_list<const char*> changes) {
  Recipe recipe = parse_recipe(good, "folder/r.toml");
  for (const char* change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(Job, FillsDefaults) {
  const Job job = job_of(good);
  EXPECT_EQ(job.name, "r");
  EXPECT_EQ(job.model.name, "mlp");
  EXPECT_EQ(job.rule.name, "momentum");
  EXPECT_EQ(job.schedule.name, "constant");
  EXPECT_EQ(job.scheme.gate.name, "sync");
  EXPECT_EQ(job.scheme.trigger.name, "every");
  EXPECT_EQ(job.ranks(), 1);
  EXPECT_EQ(job.dtype(), DType::f32);
  EXPECT_EQ(job.table("train").integer("batch"), 64);
  EXPECT_EQ(job.table("model").integers("hidden"), (std::vector<std::int64_t>{1024, 1024}));
  EXPECT_EQ(job.table("optimizer").real("momentum"), 0.9);
  EXPECT_GE(threads_per_rank(job, 1), 1);
  EXPECT_EQ(threads_per_rank(job_with({"machine.threads=3"}), 2), 3);
}

TEST(Job, KernelsByName) {
  const auto selection = [](const Job& job) {
    return replica_options(job, {}, 1, nullptr).selection.convolution;
  };
  EXPECT_EQ(selection(job_of(good)), "auto");
  EXPECT_EQ(selection(job_with({"kernels.convolution=onednn"})), "onednn");
  expect_error([] { job_with({"kernels.convolution=onedn"}); },
               {"--set kernels.convolution=onedn", "[kernels]", "'onednn'"});
}

TEST(Job, FilesOfTheRun) {
  EXPECT_EQ(job_of(good).checkpoint_path(), "runs/r/checkpoint");
  EXPECT_EQ(job_of(good).record_path(), "runs/r/record.jsonl");
  const Job given = job_with({"train.checkpoint=a/b.safetensors", "train.record=c.jsonl"});
  EXPECT_EQ(given.checkpoint_path(), "a/b");
  EXPECT_EQ(given.record_path(), "c.jsonl");
  EXPECT_EQ(job_with({"train.checkpoint=none"}).checkpoint_path(), "");
  EXPECT_EQ(job_with({"train.record=none"}).record_path(), "");
}

// Keys of the file that belong to an entry which --set replaces; those of --set itself stay.
TEST(Job, KeysOfAReplacedEntryGoWithIt) {
  Recipe recipe = parse_recipe(default_recipe_text, default_recipe_file);
  set(recipe, "data.name=synthetic");
  set(recipe, "data.count=7");
  const Job job = make_job(recipe, default_lists());
  EXPECT_EQ(job.table("data").integer("count"), 7);
  EXPECT_FALSE(job.table("data").has("padding"));
  ASSERT_EQ(job.remarks.size(), 1u);
  EXPECT_EQ(job.remarks[0],
            "data.name is \"synthetic\" now; what the recipe said for \"digits\" is left out: "
            "data.size, data.padding");
  Recipe wrong = parse_recipe(default_recipe_text, default_recipe_file);
  set(wrong, "data.name=synthetic");
  set(wrong, "data.padding=7");
  expect_error([&] { make_job(wrong, default_lists()); }, {"--set data.padding=7", "unknown key"});
}

TEST(Job, ResolvedRecipeMakesTheSameJob) {
  for (const std::string& text : {good, std::string(default_recipe_text)}) {
    const Job job = job_of(text);
    const Job again = job_of(resolved_recipe(job));
    EXPECT_EQ(again.recipe.tables, job.recipe.tables);
    EXPECT_EQ(resolved_recipe(again), resolved_recipe(job));
  }
}

TEST(Job, LayersOfTheRecipe) {
  const Job job = job_of(R"([[model.layers]]
type = "flatten"
[[model.layers]]
type = "linear"
units = 10
[train]
steps = 1
)");
  EXPECT_EQ(job.model.name, "layers");
  const Net net = build_net(job, {.fields = input_and_labels({1, 8, 8}), .classes = 10});
  EXPECT_EQ(net.table.parameters(true), 64 * 10 + 10);
  EXPECT_EQ(job_of(resolved_recipe(job)).recipe.layers, job.recipe.layers);
}

TEST(Job, OwnEntriesCanBeChosen) {
  Lists lists = default_lists();
  lists.models.add({.name = "mine",
                    .doc = "",
                    .settings = {{"width", std::int64_t{5}, "of it", 1}},
                    .build = lists.models.find("mlp").build});
  const Job job = make_job(
      parse_recipe("[model]\nname = \"mine\"\nwidth = 7\n[train]\nsteps = 1\n", "r.toml"), lists);
  EXPECT_EQ(job.table("model").integer("width"), 7);
}

TEST(Job, MessagesNameFileLineAndKey) {
  expect_error([] { job_of("[model]\nname = \"lenett\"\n[train]\nsteps = 1\n"); },
               {"r.toml:2", "[model]", "lenett", "lenet"});
  expect_error([] { job_of("[data]\n[train]\nsteps = 1\n"); },
               {"r.toml: [model]", "'name' is missing", "mlp", "lenet"});
  expect_error([] { job_of(good + "bacth = 8\n"); }, {"r.toml:7", "[train]", "bacth", "'batch'"});
  expect_error([] { job_of(good + "batch = 0\n"); }, {"r.toml:7", "'batch' is 0", "1"});
  expect_error([] { job_of(good + "batch = \"8\"\n"); },
               {"r.toml:7", "'batch' is a string", "an integer"});
  expect_error([] { job_of(good + "[optimizer]\nrule = \"sgdd\"\n"); },
               {"r.toml:8", "[optimizer]", "'sgd'"});
  expect_error([] { job_of(good + "[optimizer]\nrule = 3\n"); },
               {"r.toml:8", "[optimizer]", "'rule' is an integer (3)", "a string"});
  expect_error([] { job_of(good + "[optimizer]\nrule = \"sgd\"\nmomentum = 0.9\n"); },
               {"r.toml:9", "[optimizer]", "unknown key 'momentum'"});
  expect_error([] { job_of(good + "[optimizer]\nschedule = \"cosin\"\n"); },
               {"r.toml:8", "'cosine'"});
  expect_error([] { job_of(good + "[exchange]\nallreduce = \"rin\"\n"); },
               {"r.toml:8", "[exchange]", "'ring'"});
  expect_error([] { job_of(good + "[exchange]\nperiod = 4\n"); },
               {"r.toml:8", "[exchange]", "'period' is 4", "1"});
  expect_error([] { job_of(good + "[machine]\nbackend = \"gpu\"\n"); },
               {"r.toml:8", "[machine]", "gpu", "cpu"});
  expect_error([] { job_with({"train.dtype=f16"}); }, {"--set train.dtype=f16", "f32"});
}

TEST(Job, LayersAreValidated) {
  const std::string train = "[train]\nsteps = 1\n";
  expect_error([&] { job_of(train + "[[model.layers]]\ntype = \"liner\"\n"); },
               {"r.toml:4", "[[model.layers]]", "'linear'"});
  expect_error([&] { job_of(train + "[[model.layers]]\nunits = 3\n"); },
               {"r.toml:3", "[[model.layers]]", "'type' is missing", "linear"});
  expect_error([&] { job_of(train + "[[model.layers]]\ntype = \"linear\"\nunit = 3\n"); },
               {"r.toml:5", "[[model.layers]]", "'unit'", "'units'"});
  expect_error(
      [&] { job_of(train + "[model]\nname = \"mlp\"\n[[model.layers]]\ntype = \"flatten\"\n"); },
      {"r.toml:4", "'name' and [[model.layers]]"});
}

TEST(Job, ConditionsBetweenKeys) {
  expect_error(
      [] {
        job_with({"train.dtype=f64", "kernels.precision=bf16"});
      },
      {"--set kernels.precision=bf16", "train.dtype"});
  expect_error([] { job_of("[model]\nname = \"mlp\"\n[train]\nbatch = 3\n"); },
               {"r.toml:3", "nothing ends the run", "'epochs'"});
  expect_error(
      [] {
        job_with({"train.epochs=0", "train.wall_time=1", "optimizer.schedule=cosine"});
      },
      {"--set optimizer.schedule=cosine", "length of the run"});
  expect_error(
      [] {
        job_with({"train.target=0.9", "train.evaluate_every=0"});
      },
      {"--set train.target=0.9", "'evaluate_every' is 0"});
  expect_error(
      [] {
        job_with({"train.batch=2", "partition.data=3"});
      },
      {"--set partition.data=3", "3 ranks", "2 samples"});
  expect_error([] { job_with({"optimizer.scaling=linear"}); },
               {"--set optimizer.scaling=linear", "'base_batch' is 0", "both or neither"});
  expect_error([] { job_with({"optimizer.base_batch=32"}); },
               {"--set optimizer.base_batch=32", "'scaling' is \"none\""});
}

TEST(Job, GrowingBatchesNeedALength) {
  expect_error(
      [] {
        job_with({"train.batch=64", "optimizer.grow_batch_to=32"});
      },
      {"--set optimizer.grow_batch_to=32", "at least train.batch (64)"});
  expect_error(
      [] {
        job_with({"train.batch=8", "train.epochs=2", "optimizer.schedule=cosine",
                  "optimizer.grow_batch_to=32"});
      },
      {"--set optimizer.grow_batch_to=32", "schedule 'cosine'", "'steps' and no 'epochs'"});
  expect_error(
      [] {
        job_with({"train.batch=8", "train.epochs=0", "train.steps=0", "train.wall_time=1",
                  "optimizer.grow_batch_to=32"});
      },
      {"'grow_batch_to' needs the length of the run"});
}

TEST(Job, BatchesFromVarianceNeedRoomAndPartsI12) {
  expect_error(
      [] {
        job_with({"train.batch=8", "optimizer.batch_from_variance=1", "train.accumulate=2",
                  "optimizer.grow_batch_to=15"});
      },
      {"--set optimizer.batch_from_variance=1", "train.batch (8)", "'grow_batch_to' is 15",
       "at least 16"});
  expect_error(
      [] {
        job_with(
            {"train.batch=8", "optimizer.batch_from_variance=1", "optimizer.grow_batch_to=64"});
      },
      {"--set optimizer.batch_from_variance=1", "train.accumulate of 2 or more"});
}

TEST(Job, SvrgNeedsSamplesThatStayTheSame) {
  expect_error(
      [] {
        job_with({"data.name=cifar10", "data.flip=true", "optimizer.variance_reduction=svrg"});
      },
      {"--set optimizer.variance_reduction=svrg", "no augmentation in [data]"});
}

TEST(Job, DataAndNetworkErrorsNameTheRecipe) {
  const Job digits = job_of(
      "[model]\nname = \"lenet\"\n[data]\nname = \"digits\"\npadding = 9\n"
      "[train]\nsteps = 1\n");
  expect_error([&] { open_data(digits, data::Split::train); }, {"r.toml:3: [data]", "padding"});
  const Job small = job_of("[model]\nname = \"lenet\"\n[train]\nsteps = 1\n");
  const auto dataset = open_data(small, data::Split::train);
  expect_error([&] { build_net(small, net_input(small, *dataset)); },
               {"r.toml:2: [model] lenet", "8×8", "12×12"});
}

TEST(Job, EveryKeyOfATableIsDeclaredOnce) {
  const Lists lists = default_lists();
  for (const Rule& rule : lists.rules)
    for (const Schedule& schedule : lists.schedules) {
      std::set<std::string> names;
      for (const auto& settings :
           {declared_settings(lists, "optimizer"), rule.settings, schedule.settings})
        for (const Setting& setting : settings)
          EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    }
}

}  // namespace
}  // namespace tutti
