// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/predict.h"

#include "tutti/train/evaluate.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti {
namespace {

// The samples of the test data as floats, and their labels.
std::vector<float> test_samples(const Job& job, std::vector<std::int32_t>& labels) {
  const auto dataset = open_data(job, data::Split::test);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(dataset->count));
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<float> x(static_cast<std::size_t>(dataset->count * elements(dataset->sample_shape)));
  labels.resize(indices.size());
  dataset->read(indices, {.dtype = DType::f32, .x = x.data(), .labels = labels.data()});
  return x;
}

TEST(Predict, AgreesWithTheAccuracy) {
  for (const char* dtype : {"train.dtype=f64", "train.dtype=f32"}) {
    const TemporaryFolder folder;
    const Job job = small_job(folder, {dtype, "train.evaluation_batch=8"});
    train(job, {});
    std::vector<std::int32_t> labels;
    const Predictions made = predict(job, folder.file("small"), test_samples(job, labels));
    ASSERT_EQ(made.samples, 30);
    ASSERT_EQ(made.outputs, 3);
    ASSERT_EQ(made.classes.size(), 30u);
    int right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      right += made.classes[i] == labels[i];
      const double* row = made.values.data() + 3 * i;
      EXPECT_NEAR(std::accumulate(row, row + 3, 0.0), 1, 1e-12);
      EXPECT_EQ(std::max_element(row, row + 3) - row, made.classes[i]);
    }
    EXPECT_NEAR(right / 30.0, evaluate(job, folder.file("small")).accuracy, 1e-12);
  }
}

TEST(Predict, RegressionGivesNumbers) {
  const TemporaryFolder folder;
  const Job job = small_job(folder, {"data.targets=2"});
  train(job, {});
  const Predictions made = predict(job, folder.file("small"), std::vector<float>(12, 0.5f));
  EXPECT_EQ(made.samples, 2);
  EXPECT_EQ(made.outputs, 2);
  EXPECT_TRUE(made.classes.empty());
  EXPECT_EQ(made.values[0], made.values[2]);
}

TEST(Predict, ImagesBecomeSamples) {
  const TemporaryFolder folder;
  const std::vector<std::string> digits = {"data.name=digits", "data.size=9", "data.mean=0.5",
                                           "data.std=0.25", "train.steps=1"};
  Recipe recipe = parse_recipe("[model]\nname = \"mlp\"\nhidden = [4]\n", "d.toml");
  for (const std::string& change : digits) set(recipe, change);
  set(recipe, "train.record=none");
  set(recipe, "train.checkpoint=" + folder.file("small"));
  const Job job = make_job(recipe, default_lists());
  train(job, {});
  const std::vector<data::Image> images = {
      {.channels = 1, .height = 3, .width = 5, .pixels = std::vector<std::uint8_t>(15, 255)}};
  EXPECT_EQ(samples_of(job, folder.file("small"), images), std::vector<float>(81, 2.0f));
  expect_error(
      [&] {
        samples_of(job, folder.file("small"),
                   {{.channels = 3, .height = 1, .width = 1, .pixels = {0, 0, 0}}});
      },
      {"3 channels", "1×9×9"});
}

TEST(Predict, KnowsTheShapeFromTheCheckpointAlone) {
  const TemporaryFolder folder;
  const Job job = small_job(folder);
  train(job, {});
  EXPECT_EQ(
      trained_input(small_job(folder, {"data.shape=[77]"}), folder.file("small")).sample_shape,
      (Shape{6}));
  std::filesystem::remove(folder.file("small.state"));
  EXPECT_EQ(trained_input(job, folder.file("small.safetensors")).sample_shape, (Shape{6}));
}

}  // namespace
}  // namespace tutti
