// SPDX-License-Identifier: Apache-2.0
// train.accumulate (A09): a batch that is cut into several micro-batches trains as the whole one
// does.
#include "tutti/recipe/make_job.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/replica_options.h"

#include "expect_error.h"
#include "small_job.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tutti {
namespace {

// Batches of 7 and a last one of 6: micro-batches, and their shares, of different sizes.
std::vector<std::string> uneven(std::initializer_list<std::string> more) {
  std::vector<std::string> changes = {"train.batch=7", "data.count=20", "model.hidden=[9,8]"};
  changes.insert(changes.end(), more);
  return changes;
}

TEST(Accumulate, EqualsTheWholeBatchA09) {
  for (const std::vector<std::string>& rule : std::vector<std::vector<std::string>>{
           {}, {"optimizer.rule=adam", "optimizer.clip_norm=0.01", "optimizer.weight_decay=0.1"}}) {
    std::vector<std::string> changes = uneven({});
    changes.insert(changes.end(), rule.begin(), rule.end());
    const TemporaryFolder whole;
    train(small_job(whole, changes), {});
    for (const int micro_batches : {2, 3})
      for (const int ranks : {1, 2})
        for (const char* shard : {"all", "sharded"}) {
          std::vector<std::string> own = changes;
          own.insert(own.end(), {fmt::format("train.accumulate={}", micro_batches),
                                 fmt::format("partition.data={}", ranks),
                                 fmt::format("exchange.store={}", shard)});
          const TemporaryFolder parts;
          const TrainSummary summary = train(small_job(parts, own), {});
          EXPECT_EQ(summary.steps_done, 50) << "updates are counted";
          EXPECT_LT(largest_difference(whole, parts), 1e-10)
              << micro_batches << " micro-batches, " << ranks << " ranks, " << shard;
        }
  }
}

TEST(Accumulate, EqualsTheWholeBatchOfLeNetA09) {
  const auto lenet = [](const TemporaryFolder& folder, const char* micro_batches) {
    Recipe recipe = parse_recipe(small_recipe, "small.toml");
    recipe.tables["model"] = {{"name", std::string("lenet")}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const char* change : {"train.record=none", "train.evaluate_every=0", "data.count=20",
                               "data.shape=[1,12,12]", "train.batch=5", micro_batches})
      set(recipe, change);
    return make_job(recipe, default_lists());
  };
  const TemporaryFolder whole, parts;
  train(lenet(whole, "train.accumulate=1"), {});
  train(lenet(parts, "train.accumulate=2"), {});
  EXPECT_LT(largest_difference(whole, parts), 1e-10);
}

// With layouts, fused kernels and threads, in single precision.
TEST(Accumulate, EqualsTheWholeBatchWithFastKernelsA09) {
  for (const char* ranks : {"partition.data=1", "partition.data=2"}) {
    const auto losses = [&](const char* micro_batches) {
      const TemporaryFolder folder;
      Recipe recipe = parse_recipe(small_recipe, "small.toml");
      recipe.tables["model"] = {{"name", std::string("lenet")}};
      for (const char* change :
           {"train.checkpoint=none", "data.shape=[1,12,12]", "machine.backend=cpu",
            "train.dtype=f32", "train.steps=10", "train.log_every=1", micro_batches, ranks})
        set(recipe, change);
      set(recipe, "train.record=\"" + folder.file("record") + "\"");
      train(make_job(recipe, default_lists()), {});
      std::ifstream file(folder.file("record"));
      std::vector<double> all;
      for (std::string line; std::getline(file, line);)
        if (const auto entry = nlohmann::json::parse(line); entry["kind"] == "step")
          all.insert(all.end(), {entry["loss"], entry["accuracy"], entry["gradient_norm"]});
      return all;
    };
    const std::vector<double> whole = losses("train.accumulate=1");
    const std::vector<double> parts = losses("train.accumulate=5");
    ASSERT_EQ(whole.size(), 30u);
    ASSERT_EQ(parts.size(), 30u);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], parts[i], 1e-4);
  }
}

// Masks are drawn by the sample's place in the whole batch.
TEST(Accumulate, DropsWhatTheWholeBatchDrops) {
  const auto job = [](const TemporaryFolder& folder, const std::string& micro_batches,
                      const std::string& ranks) {
    Recipe recipe = parse_recipe(small_recipe, "small.toml");
    recipe.tables["model"] = {};
    recipe.layers = {{{"type", std::string("linear")}, {"units", std::int64_t{9}}},
                     {{"type", std::string("dropout")}, {"rate", 0.5}},
                     {{"type", std::string("linear")}, {"units", std::int64_t{3}}}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const std::string& change :
         {std::string("train.record=none"), std::string("train.batch=7"), micro_batches, ranks})
      set(recipe, change);
    return make_job(recipe, default_lists());
  };
  const TemporaryFolder whole;
  train(job(whole, "train.accumulate=1", "partition.data=1"), {});
  for (const char* micro_batches : {"train.accumulate=2", "train.accumulate=3"}) {
    // The last batch of 60 samples has 4.
    const TemporaryFolder one;
    train(job(one, micro_batches, "partition.data=1"), {});
    EXPECT_LT(largest_difference(whole, one), 1e-10) << micro_batches;
  }
  const TemporaryFolder two;
  train(job(two, "train.accumulate=2", "partition.data=2"), {});
  EXPECT_LT(largest_difference(whole, two), 1e-10);
}

// Normalised over each pass, whatever the ranks: as ghost batches of that size (B18).
TEST(Accumulate, NormalisesEveryPassB18) {
  const auto job = [](const TemporaryFolder& folder, const std::string& micro_batches,
                      const char* ranks, std::int64_t group) {
    Recipe recipe = parse_recipe(small_recipe, "small.toml");
    recipe.tables["model"] = {};
    recipe.layers = {{{"type", std::string("linear")}, {"units", std::int64_t{9}}},
                     {{"type", std::string("batch_norm")}, {"group", group}},
                     {{"type", std::string("relu")}},
                     {{"type", std::string("linear")}, {"units", std::int64_t{3}}}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const std::string& change :
         {std::string("train.record=none"), std::string("train.batch=12"), micro_batches,
          std::string(ranks)})
      set(recipe, change);
    return make_job(recipe, default_lists());
  };
  const TemporaryFolder ghost;
  train(job(ghost, "train.accumulate=1", "partition.data=1", 6), {});
  const SafetensorsFile left = read_safetensors(ghost.file("small.safetensors"));
  for (const char* ranks : {"partition.data=1", "partition.data=3"}) {
    const TemporaryFolder parts;
    train(job(parts, "train.accumulate=2", ranks, 0), {});
    const SafetensorsFile right = read_safetensors(parts.file("small.safetensors"));
    for (const NamedTensor& entry : left.tensors) {
      if (entry.name.find("running") != std::string::npos) continue;  // an average of averages
      for (std::int64_t i = 0; i < entry.tensor.count(); ++i)
        EXPECT_NEAR(entry.tensor.as<double>()[i], right.find(entry.name)->as<double>()[i], 1e-10)
            << entry.name << " " << ranks;
    }
  }
}

TEST(Accumulate, NeedsTheMemoryOfOnePass) {
  const TemporaryFolder folder;
  const auto arena = [&](std::int64_t micro_batches) {
    const Job job =
        small_job(folder, {"train.batch=64", "model.hidden=[100,100]", "machine.backend=cpu",
                           "train.dtype=f32", fmt::format("train.accumulate={}", micro_batches)});
    const auto dataset = open_data(job, data::Split::train);
    Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
    const Accumulation last{micro_batches > 1, true};
    return replica.training_program(64 / micro_batches, 64 / micro_batches, last)
        .memory()
        .arena_bytes;
  };
  // What is left is a gradient that is added.
  EXPECT_LT(arena(8), arena(1) / 8 + 4 * 100 * 101 + 4096);
}

TEST(Accumulate, ResumesBitForBitL01) {
  const TemporaryFolder straight, parts;
  const std::vector<std::string> job =
      uneven({"train.accumulate=3", "partition.data=2", "optimizer.rule=adam"});
  train(small_job(straight, job), {});
  std::vector<std::string> half = job;
  half.emplace_back("train.steps=23");
  train(small_job(parts, half), {});
  train(small_job(parts, job), {.resume = true});
  EXPECT_TRUE(checkpoint_bytes(parts) == checkpoint_bytes(straight));
}

TEST(Accumulate, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        small_job(folder, {"train.accumulate=7", "partition.data=2"});
      },
      {"[train]", "'accumulate' is 7 micro-batches of 2 ranks", "12 samples"});
  expect_error(
      [&] {
        train(small_job(folder, {"train.accumulate=7", "data.count=16"}), {});
      },
      {"the last batch of an epoch has 4 samples", "7 micro-batches (train.accumulate)"});
  expect_error(
      [&] {
        small_job(folder, {"train.accumulate=2", "optimizer.variance_reduction=svrg"});
      },
      {"svrg", "train.accumulate = 1"});
}

TEST(Accumulate, TheGuardNamesAnOperator) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(small_job(folder, {"optimizer.rate=1e300", "train.accumulate=3"}), {});
      },
      {"step ", "not finite", " of fc", "optimizer.rate"});
}

}  // namespace
}  // namespace tutti
