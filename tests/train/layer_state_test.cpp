// SPDX-License-Identifier: Apache-2.0
// Layer state that each rank has of its own (statistics of groups of samples) in checkpoints: exact
// for as many ranks, their mean for others (L01, L02).
#include "tutti/recipe/make_job.h"

#include "small_job.h"

#include <csignal>

namespace tutti {
namespace {

Job grouped_job(const TemporaryFolder& folder, int ranks, std::vector<std::string> changes = {}) {
  Recipe recipe = parse_recipe(R"([data]
name = "synthetic"
shape = [6]
classes = 3
count = 60
test_count = 30
[train]
steps = 40
batch = 12
seed = 3
dtype = "f64"
record = "none"
[exchange]
order = "fixed"
[machine]
backend = "reference"
threads = 1
[[model.layers]]
type = "linear"
units = 5
[[model.layers]]
type = "batch_norm"
group = 2
[[model.layers]]
type = "linear"
units = 3
)",
                               "groups.toml");
  changes.push_back("train.checkpoint=\"" + folder.file("small") + "\"");
  changes.push_back(fmt::format("partition.data={}", ranks));
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

void train_until(const TemporaryFolder& folder, int ranks, int step) {
  int steps = 0;
  train(grouped_job(folder, ranks), {.stop_signal = [&] { return ++steps == step ? SIGTERM : 0; }});
}

const std::string mean_name = "batch_norm1.running_mean";

TEST(LayerState, EachRanksOwnIsKeptAndTheirMeanStandsAmongTheWeightsL02) {
  const TemporaryFolder folder;
  train_until(folder, 3, 17);
  EXPECT_EQ(read_checkpoint_state(folder.file("small")).layer_state_ranks, 3);
  const SafetensorsFile weights = read_safetensors(folder.file("small.safetensors"));
  const SafetensorsFile state = read_safetensors(folder.file("small.state"));
  const Tensor* mean = weights.find(mean_name);
  ASSERT_NE(mean, nullptr);
  bool differ = false;
  for (std::int64_t i = 0; i < mean->count(); ++i) {
    double sum = 0;
    for (int rank = 0; rank < 3; ++rank) {
      const Tensor* own = state.find(fmt::format("rank.{}.{}", rank, mean_name));
      ASSERT_NE(own, nullptr);
      sum += own->as<double>()[i];
      differ |= own->as<double>()[i] != mean->as<double>()[i];
    }
    EXPECT_EQ(mean->as<double>()[i], sum / 3);
  }
  EXPECT_TRUE(differ);
}

// Evaluations and checkpoints on the way change nothing either.
TEST(LayerState, AsManyRanksGoOnBitForBitL01) {
  const TemporaryFolder whole, parts, often;
  train(grouped_job(whole, 3), {});
  train_until(parts, 3, 17);
  std::string printed;
  train(grouped_job(parts, 3),
        {.resume = true, .print = [&](const std::string& line) { printed += line + "\n"; }});
  EXPECT_EQ(printed.find("layer state"), std::string::npos);
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
  train(grouped_job(often, 3, {"train.checkpoint_every=7", "train.evaluate_every=2"}), {});
  EXPECT_EQ(weights_bytes(often), weights_bytes(whole));
}

TEST(LayerState, OtherNumbersOfRanksBeginWithTheMeanAndSaySoL02) {
  for (const int ranks : {1, 2}) {
    const TemporaryFolder folder;
    train_until(folder, 3, 17);
    const std::string before = weights_bytes(folder);
    std::string printed;
    TrainOptions options{.resume = true};
    options.print = [&](const std::string& line) { printed += line + "\n"; };
    // Nothing is left to do, so that what was read is written.
    train(grouped_job(folder, ranks, {"train.steps=17"}), options);
    EXPECT_EQ(weights_bytes(folder), before);
    EXPECT_NE(printed.find("the checkpoint has the layer state of 3 ranks: "), std::string::npos);
    EXPECT_NE(printed.find(ranks == 1 ? "the one rank begins here with their mean"
                                      : "each of the 2 begins here with their mean"),
              std::string::npos)
        << printed;
    EXPECT_EQ(train(grouped_job(folder, ranks), options).steps_done, 40);
    EXPECT_EQ(read_checkpoint_state(folder.file("small")).layer_state_ranks, ranks == 1 ? 0 : 2);
  }
}

}  // namespace
}  // namespace tutti
