// SPDX-License-Identifier: Apache-2.0
// Data as training sees it: augmentation, scaling, regression.
#include "tutti/recipe/make_job.h"
#include "tutti/train/predict.h"
#include "tutti/train/train.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using Changes = std::vector<std::string>;

const Changes augmented = {"data.shape=[2,6,5]", "data.flip=true", "data.crop=2", "data.cutout=2",
                           "train.steps=13"};

Changes operator+(Changes a, const Changes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

double loss_of(const Changes& changes) {
  const TemporaryFolder folder;
  return train(small_job(folder, changes), {}).loss;
}

// In double, sums in rank order: what is left is rounding.
TEST(Augmentation, SameWithOneAndThreeRanks) {
  const double alone = loss_of(augmented);
  EXPECT_NEAR(loss_of(augmented + Changes{"partition.data=3"}), alone, 1e-12);
  EXPECT_NEAR(loss_of(augmented + Changes{"partition.data=2", "train.readers=3"}), alone, 1e-12);
  EXPECT_GT(
      std::abs(loss_of(augmented + Changes{"data.flip=false", "data.crop=0", "data.cutout=0"}) -
               alone),
      1e-3);
}

TEST(Augmentation, SameBitsWithAnyReadersAndAfterResume) {
  const TemporaryFolder whole, readers, resumed;
  train(small_job(whole, augmented), {});
  train(small_job(readers, augmented + Changes{"train.readers=4", "train.prefetch=2"}), {});
  EXPECT_EQ(checkpoint_bytes(readers), checkpoint_bytes(whole));
  // Epochs have 5 steps: 7 is in the middle of the second.
  train(small_job(resumed, augmented + Changes{"train.steps=7"}), {});
  EXPECT_NE(weights_bytes(resumed), weights_bytes(whole));
  train(small_job(resumed, augmented), {.resume = true});
  EXPECT_EQ(checkpoint_bytes(resumed), checkpoint_bytes(whole));
}

TEST(Augmentation, TestDataIsLeftAlone) {
  const auto test_loss = [](const Changes& changes) {
    const TemporaryFolder folder;
    return train(small_job(
                     folder,
                     Changes{"data.shape=[2,6,5]", "optimizer.rate=0", "train.steps=1"} + changes),
                 {})
        .test_loss;
  };
  EXPECT_EQ(test_loss({"data.flip=true", "data.crop=2", "data.cutout=3"}), test_loss({}));
}

TEST(Augmentation, NeedsImages) {
  const TemporaryFolder folder;
  expect_error([&] { train(small_job(folder, {"data.flip=true"}), {}); },
               {"small.toml:4: [data]", "samples are 6", "'flip'"});
  expect_error([&] { train(small_job(folder, augmented + Changes{"data.crop=5"}), {}); },
               {"[data]", "'crop' is 5", "6×5"});
}

// Predictions scale as training did, although the recipe says only that it was measured.
TEST(Scaling, MeasuredOnesAreKeptInTheCheckpoint) {
  const TemporaryFolder folder;
  Recipe recipe = parse_recipe(R"([model]
name = "mlp"
hidden = [4]
[data]
name = "digits"
mean = []
std = []
[train]
steps = 1
evaluate_every = 0
record = "none"
[machine]
threads = 1
)",
                               "digits.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("d") + "\"");
  const Job job = make_job(recipe, default_lists());
  train(job, {});
  const data::Scaling scaling = trained_network(job, folder.file("d")).scaling;
  ASSERT_EQ(scaling.mean.size(), 1u);
  EXPECT_NEAR(scaling.mean[0], 0.3053, 0.01);
  EXPECT_NEAR(scaling.std[0], 0.3760, 0.01);
  EXPECT_EQ(scaling.mean, open_data(job, data::Split::test)->scaling.mean) << "to the last bit";
}

// recipes/regression.toml ends near the noise: variance 0.01, mean absolute value 0.1 · √(2/π).
TEST(Regression, TheRecipeReachesTheNoise) {
  Recipe recipe = read_recipe(std::string(TUTTI_SOURCE_DIR) + "/recipes/regression.toml");
  set(recipe, "train.checkpoint=none");
  set(recipe, "train.record=none");
  const TrainSummary summary = train(make_job(recipe, default_lists()), {});
  EXPECT_LT(summary.test_loss, 0.012);
  EXPECT_GT(summary.test_loss, 0.009);
  EXPECT_NEAR(summary.test_absolute_error, 0.0798, 0.008);
}

TEST(Regression, AbsoluteErrorDoesNotDependOnRanks) {
  const auto summary = [](const std::string& ranks) {
    const TemporaryFolder folder;
    return train(small_job(folder, {"data.targets=2", "train.steps=7", ranks}), {});
  };
  const TrainSummary one = summary("partition.data=1"), three = summary("partition.data=3");
  EXPECT_GT(one.test_absolute_error, 0.01);
  EXPECT_NEAR(three.test_absolute_error, one.test_absolute_error, 1e-12);
  EXPECT_NEAR(three.absolute_error, one.absolute_error, 1e-12);
}

// Two targets of very different units, learnt a little from 40 rows.
Job two_units(const TemporaryFolder& folder, const Changes& changes = {}) {
  std::string rows = "a,b,big,small\n";
  for (int i = 0; i < 40; ++i)
    rows += fmt::format("{},{},{},{}\n", i, i % 7, 5000 + 300 * i, 0.001 * (i % 7));
  write_bytes(folder.file("t.csv"), rows);
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["data"] = {{"name", std::string("csv")},
                           {"file", folder.file("t.csv")},
                           {"test_file", folder.file("t.csv")},
                           {"target", std::string("big, small")}};
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=none");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(Regression, AbsoluteErrorIsInTheUnitsOfTheTargets) {
  const TemporaryFolder folder;
  const Job job = two_units(folder, {"train.steps=20"});
  const TrainSummary summary = train(job, {});
  const TrainedNetwork network = trained_network(job, folder.file("small"));
  EXPECT_NEAR(network.target_scaling.mean[0], 5000 + 300 * 19.5, 1e-9);
  std::vector<float> x;
  for (int i = 0; i < 40; ++i)
    x.insert(x.end(), {network.scaling(i, 0), network.scaling(i % 7, 1)});
  const Predictions made = Predictor(job, network, folder.file("small"))(x);
  double errors = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto row = static_cast<double>(i);
    errors += std::abs(made.values[2 * i] - (5000 + 300 * row)) +
              std::abs(made.values[2 * i + 1] - 0.001 * static_cast<double>(i % 7));
  }
  // Targets are rounded to float when they are scaled.
  EXPECT_NEAR(summary.test_absolute_error, errors / 80, 1e-6 * errors / 80);
  EXPECT_GT(summary.test_absolute_error, 1);
  EXPECT_LT(summary.test_loss, 2) << "of scaled targets";
  const TemporaryFolder other;
  EXPECT_NEAR(
      train(two_units(other, {"train.steps=20", "partition.data=2"}), {}).test_absolute_error,
      summary.test_absolute_error, 1e-9 * summary.test_absolute_error);
}

TEST(Regression, ScaledTargetsResumeBitForBit) {
  const TemporaryFolder whole, parts;
  train(two_units(whole, {"train.steps=9"}), {});
  train(two_units(parts, {"train.steps=4"}), {});
  train(two_units(parts, {"train.steps=9"}), {.resume = true});
  const auto tensors = [](const TemporaryFolder& folder) {
    const auto w = read_safetensors(folder.file("small.safetensors"));
    return std::string(reinterpret_cast<const char*>(w.data.data()),
                       static_cast<std::size_t>(w.data.bytes()));
  };
  EXPECT_EQ(tensors(parts), tensors(whole));
  // The same rows in another unit can't go on from there.
  std::string rows = "a,b,big,small\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("{},{},{},{}\n", i, i % 7, i, i % 7);
  const Job job = two_units(parts, {"train.steps=12"});
  write_bytes(parts.file("t.csv"), rows);
  expect_error([&] { train(job, {.resume = true}); },
               {"the training data has changed", "'target_mean' was"});
}

TEST(TestData, MustHaveTheShapeOfTheTrainingData) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.csv"), "1,2,3\n4,5,6\n");
  write_bytes(folder.file("b.csv"), "1,2\n4,5\n");
  Recipe recipe =
      parse_recipe("[model]\nname=\"mlp\"\n[data]\nname=\"csv\"\n[train]\nsteps=1\n", "r");
  set(recipe, "data.file=\"" + folder.file("a.csv") + "\"");
  set(recipe, "data.test_file=\"" + folder.file("b.csv") + "\"");
  set(recipe, "train.checkpoint=none");
  set(recipe, "train.record=none");
  expect_error([&] { train(make_job(recipe, default_lists()), {}); },
               {"training samples are 2", "test samples are 1"});
}

}  // namespace
}  // namespace tutti
