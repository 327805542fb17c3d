// SPDX-License-Identifier: Apache-2.0
// What a weights file says about its network is enough to use it, alone (L01).
#include "tutti/train/trained_network.h"

#include "tutti/recipe/make_job.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/predict.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// The same tensors without metadata, as another tool would write them.
void forget_metadata(const std::string& weights) {
  const SafetensorsFile file = read_safetensors(weights + ".safetensors");
  write_safetensors(weights + ".safetensors", file.tensors, {});
  std::filesystem::remove(weights + ".state");
}

// Digits scaled by what is measured, or as the changes say.
Job measured_digits(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe(R"([model]
name = "mlp"
hidden = [4]
[data]
name = "digits"
mean = []
std = []
[train]
steps = 1
[machine]
threads = 1
)",
                               "digits.toml");
  set(recipe, "train.record=none");
  set(recipe, "train.checkpoint=\"" + folder.file("w") + "\"");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(TrainedNetwork, IsKeptInTheWeightsFileAlone) {
  const TemporaryFolder folder;
  const Job job = small_job(folder);
  const TrainSummary summary = train(job, {});
  std::filesystem::remove(folder.file("small.state"));
  for (const char* name : {"small", "small.safetensors"}) {
    const TrainedNetwork network =
        trained_network(small_job(folder, {"data.shape=[77]"}), folder.file(name));
    EXPECT_EQ(network.sample_shape(), (Shape{6}));
    EXPECT_EQ(network.classes, 3);
    EXPECT_EQ(network.scaling.mean, std::vector<double>{0});
  }
  Recipe recipe = recipe_in(folder.file("small")).value();
  EXPECT_EQ(recipe.tables.at("model"), job.table("model"));
  EXPECT_EQ(recipe.tables.at("data"), job.table("data"));
  set(recipe, "train.steps=1");
  set(recipe, "machine.backend=reference");
  const Job again = make_job(recipe, default_lists());
  EXPECT_EQ(again.dtype(), DType::f64);
  EXPECT_NEAR(evaluate(again, folder.file("small")).loss, summary.test_loss, 1e-12);
}

TEST(TrainedNetwork, OwnLayersAreKept) {
  const TemporaryFolder folder;
  Recipe recipe = parse_recipe("[[model.layers]]\ntype = \"linear\"\nunits = 3\n", "own.toml");
  recipe.tables["data"] = small_job(folder).table("data");
  for (const char* change : {"train.steps=1", "train.record=none", "machine.threads=1"})
    set(recipe, change);
  set(recipe, "train.checkpoint=\"" + folder.file("own") + "\"");
  const Job job = make_job(recipe, default_lists());
  train(job, {});
  const Recipe kept = recipe_in(folder.file("own")).value();
  EXPECT_EQ(kept.layers, job.recipe.layers);
  EXPECT_EQ(kept.file, folder.file("own.safetensors"));
}

// Nothing in the file tells on how many ranks, where or when it was written.
TEST(TrainedNetwork, MetadataDependsOnModelAndDataOnly) {
  const TemporaryFolder folder;
  const Job job = small_job(folder);
  const Job other =
      small_job(folder, {"partition.data=2", "optimizer.rate=1", "train.batch=6", "train.steps=2"});
  EXPECT_EQ(weights_metadata(job, *open_data(job, data::Split::train)),
            weights_metadata(other, *open_data(other, data::Split::train)));
}

TEST(TrainedNetwork, FilesOfOtherToolsNeedARecipe) {
  const TemporaryFolder folder;
  const Job job = small_job(folder);
  const TrainSummary summary = train(job, {});
  forget_metadata(folder.file("small"));
  EXPECT_FALSE(recipe_in(folder.file("small")).has_value());
  EXPECT_FALSE(network_in(folder.file("small")).has_value());
  EXPECT_NEAR(evaluate(job, folder.file("small")).loss, summary.test_loss, 1e-12);
  EXPECT_EQ(trained_network(job, folder.file("small")).sample_shape(), (Shape{6}));
}

TEST(TrainedNetwork, ScalingIsNeverGuessed) {
  const TemporaryFolder folder;
  const Job job = measured_digits(folder);
  train(job, {});
  forget_metadata(folder.file("w"));
  expect_error([&] { trained_network(job, folder.file("w")); },
               {"w.safetensors does not say how the inputs", "digits.toml has them measured",
                "data.mean and data.std"});
  const Job given = measured_digits(folder, {"data.mean=0.5", "data.std=0.25"});
  EXPECT_EQ(trained_network(given, folder.file("w")).scaling.mean, std::vector<double>{0.5});
  EXPECT_EQ(evaluate(job, folder.file("w")).samples, 360) << "the recipe says how to measure";
}

// The data may be scaled otherwise by now, or by another recipe: what counts is the training.
TEST(TrainedNetwork, EvaluationScalesAsInTraining) {
  const TemporaryFolder folder;
  const TrainSummary summary = train(measured_digits(folder), {});
  const Job other = measured_digits(folder, {"data.mean=0.9", "data.std=3"});
  EXPECT_EQ(evaluate(other, folder.file("w")).loss, summary.test_loss);
  forget_metadata(folder.file("w"));
  EXPECT_NE(evaluate(other, folder.file("w")).loss, summary.test_loss);
}

// Checkpoints of earlier versions have the same in NAME.state.
TEST(TrainedNetwork, StateOfEarlierVersionsIsRead) {
  const TemporaryFolder folder;
  const Job job = measured_digits(folder);
  train(job, {});
  const SafetensorsFile file = read_safetensors(folder.file("w.safetensors"));
  const std::string checksum = write_safetensors(folder.file("w.safetensors"), file.tensors, {});
  Metadata state = {
      {"weights_crc32", checksum}, {"step", "1"}, {"epoch", "0"}, {"position", "0"}, {"seed", "0"}};
  for (const auto& [key, value] : file.metadata) state["note." + key] = value;
  write_safetensors(folder.file("w.state"), {}, state);
  EXPECT_EQ(trained_network(job, folder.file("w")).scaling.mean,
            open_data(job, data::Split::train)->scaling.mean);
  EXPECT_TRUE(recipe_in(folder.file("w")).has_value());
}

TEST(TrainedNetwork, OtherClassesAreRefused) {
  const TemporaryFolder folder;
  train(small_job(folder), {});
  expect_error([&] { evaluate(small_job(folder, {"data.classes=4"}), folder.file("small")); },
               {"small.safetensors was trained on 3 classes", "the data has 4"});
}

TEST(TrainedNetwork, MetadataOfOthersIsRefused) {
  const TemporaryFolder folder;
  train(small_job(folder), {});
  const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
  const auto with = [&](const std::string& key, const std::string& value) {
    Metadata metadata = file.metadata;
    metadata[key] = value;
    write_safetensors(folder.file("small.safetensors"), file.tensors, metadata);
    return [&] { network_in(folder.file("small")); };
  };
  expect_error(with("sample_shape", "x"), {"'sample_shape' is \"x\""});
  expect_error(with("classes", ""), {"'classes' is \"\""});
  expect_error(with("class_names", "[1]"), {"'class_names' is \"[1]\""});
  expect_error(with("class_names", "[\"a\"]"), {"'class_names'"});
  expect_error(with("mean", "1 2"), {"'mean' is \"1 2\""});
}

TEST(TrainedNetwork, ResumingOnDataThatIsScaledOtherwiseIsRefused) {
  const TemporaryFolder folder;
  const Job job = measured_digits(folder);
  train(job, {});
  SafetensorsFile file = read_safetensors(folder.file("w.safetensors"));
  const Metadata state = read_safetensors_metadata(folder.file("w.state"));
  file.metadata["mean"] = "0.25";
  const std::string checksum =
      write_safetensors(folder.file("w.safetensors"), file.tensors, file.metadata);
  const SafetensorsFile beside = read_safetensors(folder.file("w.state"));
  Metadata matching = state;
  matching["weights_crc32"] = checksum;
  write_safetensors(folder.file("w.state"), beside.tensors, matching);
  expect_error(
      [&] { train(measured_digits(folder, {"train.steps=2"}), {.resume = true}); },
      {"w.safetensors can't be resumed", "the training data has changed", "'mean' was 0.25"});
}

}  // namespace
}  // namespace tutti
