// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/synthetic.h"

#include "data/allocations.h"
#include "data/scratch.h"

#include <cmath>
#include <numeric>

namespace tutti::data {
namespace {

std::unique_ptr<Dataset> open_synthetic(const Settings& given, Split split = Split::train) {
  return synthetic().open(resolve(synthetic().settings, given, "test"), split);
}

std::vector<float> read(const Dataset& data, const std::vector<std::int64_t>& indices) {
  std::vector<float> x(indices.size() * elements(data.sample_shape()));
  data.read(indices, {.fields = {x.data()}});
  return x;
}

TEST(Synthetic, HasTheShapeAskedFor) {
  const auto data = open_synthetic({{"shape", std::vector<std::int64_t>{3, 4, 5}},
                                    {"classes", std::int64_t{7}},
                                    {"count", std::int64_t{70}},
                                    {"test_count", std::int64_t{30}}});
  EXPECT_EQ(data->sample_shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(data->classes, 7);
  EXPECT_EQ(data->count, 70);
  EXPECT_EQ(open_synthetic({{"test_count", std::int64_t{30}}}, Split::test)->count, 30);
  std::vector<std::int64_t> all(70);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int32_t> labels(70), seen(7);
  data->read(all, {.fields = {nullptr, labels.data()}});
  for (std::int32_t label : labels) ++seen[label];
  EXPECT_EQ(seen, std::vector<std::int32_t>(7, 10)) << "classes are equally frequent";
}

TEST(Synthetic, IsAFunctionOfSeedPartAndIndex) {
  const auto data = open_synthetic({});
  const std::vector<float> one = read(*data, {5}), batch = read(*data, {9, 5});
  EXPECT_TRUE(std::equal(one.begin(), one.end(), batch.begin() + 784));
  EXPECT_EQ(read(*open_synthetic({}), {5}), one);
  EXPECT_NE(read(*open_synthetic({}, Split::test), {5}), one);
  EXPECT_NE(read(*open_synthetic({{"seed", std::int64_t{1}}}), {5}), one);
  std::vector<double> twice(784);
  const std::int64_t five[] = {5};
  data->read(five, {.dtype = DType::f64, .fields = {twice.data()}});
  for (int i = 0; i < 784; ++i) EXPECT_EQ(twice[i], double{one[i]});
}

// Elements have variance 1 (centres) + noise²; 784 × 200 of them give it within 3 %.
TEST(Synthetic, HasTheStatedVariance) {
  const auto data = open_synthetic({{"noise", 0.7}, {"classes", std::int64_t{200}}});
  std::vector<std::int64_t> indices(200);
  std::iota(indices.begin(), indices.end(), 0);
  double sum = 0, squares = 0;
  const std::vector<float> x = read(*data, indices);
  for (float value : x) sum += value, squares += value * value;
  EXPECT_NEAR(sum / x.size(), 0, 0.02);
  EXPECT_NEAR(squares / x.size(), 1 + 0.49, 0.045);
}

// The nearest training centre gives the class of a test sample: the clusters can be learnt.
TEST(Synthetic, ClustersAreLearnable) {
  const Settings settings = {{"shape", std::vector<std::int64_t>{64}},
                             {"classes", std::int64_t{5}}};
  const auto train = open_synthetic(settings), test = open_synthetic(settings, Split::test);
  std::vector<float> centres = read(*train, {0, 1, 2, 3, 4});
  int right = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::vector<float> x = read(*test, {i});
    int nearest = 0;
    double least = 1e30;
    for (int c = 0; c < 5; ++c) {
      double distance = 0;
      for (int j = 0; j < 64; ++j) distance += std::pow(x[j] - centres[c * 64 + j], 2);
      if (distance < least) least = distance, nearest = c;
    }
    right += nearest == i % 5;
  }
  EXPECT_GE(right, 98);
}

// Without noise the targets of a combination of samples are the same combination of their targets.
TEST(Synthetic, RegressionIsALinearMap) {
  const auto data = open_synthetic(
      {{"shape", std::vector<std::int64_t>{2}}, {"targets", std::int64_t{3}}, {"noise", 0.0}});
  EXPECT_EQ(data->classes, 0);
  EXPECT_EQ(data->target_shape(), (Shape{3}));
  const std::int64_t indices[] = {0, 1, 2};
  double x[6], y[9];
  data->read(indices, {.dtype = DType::f64, .fields = {x, y}});
  // Sample 2 is a·(sample 0) + b·(sample 1).
  const double det = x[0] * x[3] - x[1] * x[2];
  const double a = (x[4] * x[3] - x[5] * x[2]) / det, b = (x[0] * x[5] - x[1] * x[4]) / det;
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(y[6 + k], a * y[k] + b * y[3 + k], 1e-5);
  EXPECT_GT(std::abs(y[0]) + std::abs(y[1]) + std::abs(y[2]), 0.01);
}

// Nothing is stored, whatever the shape and the count: ImageNet's would be 770 GB of floats.
TEST(Synthetic, LargeSamplesAreMadeWhenRead) {
  const long before = allocations();
  const auto data = open_synthetic({{"shape", std::vector<std::int64_t>{3, 224, 224}},
                                    {"classes", std::int64_t{1000}},
                                    {"count", std::int64_t{1281167}}});
  EXPECT_LT(allocations() - before, 200) << "of settings and names";
  std::vector<float> x(3 * 224 * 224);
  std::int32_t label = -1;
  const std::int64_t last[] = {1281166};
  const long opened = allocations();
  data->read(last, {.fields = {x.data(), &label}});
  EXPECT_EQ(allocations(), opened);
  EXPECT_EQ(label, 1281166 % 1000);
}

TEST(Synthetic, Errors) {
  expect_error(
      [] {
        open_synthetic({{"shape", std::vector<std::int64_t>{}}});
      },
      {"'shape' is empty"});
  expect_error(
      [] {
        open_synthetic({{"shape", std::vector<std::int64_t>{3, 0}}});
      },
      {"shape", "0"});
  expect_error([] { open_synthetic({{"count", std::int64_t{0}}}); }, {"count"});
}

}  // namespace
}  // namespace tutti::data
