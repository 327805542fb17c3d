// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/predict.h"

#include "tutti/recipe/make_job.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/replica_options.h"

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
  std::vector<float> x(
      static_cast<std::size_t>(dataset->count * elements(dataset->sample_shape())));
  labels.resize(indices.size());
  dataset->read(indices, {.dtype = DType::f32, .fields = {x.data(), labels.data()}});
  return x;
}

Predictions predict(const Job& job, const std::string& weights, const std::vector<float>& x) {
  return Predictor(job, trained_network(job, weights), weights)(x);
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

// A perceptron that was trained on the digits for a moment.
Job digits_job(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe("[model]\nname = \"mlp\"\nhidden = [128, 128]\n", "digits.toml");
  set(recipe, "data.name=digits");
  set(recipe, "train.epochs=3");
  set(recipe, "optimizer.rule=adam");
  set(recipe, "optimizer.rate=0.001");
  set(recipe, "machine.threads=1");
  set(recipe, "train.record=none");
  set(recipe, "train.checkpoint=" + folder.file("small"));
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(Predict, B03EightBitsSayWhatFloatsSay) {
  const TemporaryFolder folder;
  const Job job = digits_job(folder);
  train(job, {});
  const Job int8 = digits_job(folder, {"kernels.precision=int8"});
  std::vector<std::int32_t> labels;
  const std::vector<float> x = test_samples(job, labels);
  const Predictions floats = predict(job, folder.file("small"), x),
                    integers = predict(int8, folder.file("small"), x);
  double same = 0, right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    same += integers.classes[i] == floats.classes[i];
    right += integers.classes[i] == labels[i];
  }
  const auto count = static_cast<double>(labels.size());
  EXPECT_GE(same / count, 0.99);
  EXPECT_GE(right / count, 0.9);
  EXPECT_NE(integers.values, floats.values) << "nothing was rounded";
  EXPECT_NEAR(evaluate(int8, folder.file("small")).accuracy, right / count, 1e-12);
}

TEST(Predict, B03WeightsAreQuantisedOnceAndAnewWhenTheyAreSet) {
  const TemporaryFolder folder;
  const Job job = digits_job(folder, {"kernels.precision=int8"});
  const auto dataset = open_data(job, data::Split::test);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  replica.initialise(1);
  const std::vector<float> x(static_cast<std::size_t>(4 * elements(dataset->sample_shape())), 0.5f);
  const std::vector<std::int32_t> labels(4);
  const std::vector<float> weights(4, 0.25f);
  const auto outputs = [&] {
    std::vector<float> y(40);
    replica.predict({4, 4, {x.data(), labels.data(), weights.data()}}, y.data());
    return y;
  };
  const std::vector<float> first = outputs();
  EXPECT_EQ(outputs(), first);
  const Range& range = replica.table().ranges.front();
  ASSERT_EQ(range.name, "fc1.weight");
  auto* w = static_cast<float*>(replica.weights()) + range.offset;
  for (std::int64_t i = 0; i < elements(range.shape); ++i) w[i] = 0;
  EXPECT_EQ(outputs(), first);
  replica.set_weights(replica.gather_weights());
  EXPECT_NE(outputs(), first);
}

TEST(Predict, B03TrainingInEightBitsIsRefused) {
  const TemporaryFolder folder;
  expect_error(
      [&] { train(digits_job(folder, {"kernels.precision=int8"}), {}); },
      {"kernels.precision = \"int8\" is for tutti eval and tutti predict; train with f32"});
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
  const TrainedNetwork network = trained_network(job, folder.file("small"));
  EXPECT_EQ(samples_of(job, network, images), std::vector<float>(81, 2.0f));
  expect_error(
      [&] {
        samples_of(job, network, {{.channels = 3, .height = 1, .width = 1, .pixels = {0, 0, 0}}});
      },
      {"3 channels", "1×9×9"});
}

}  // namespace
}  // namespace tutti
