// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/digits.h"

#include "tutti/data/digits_data.h"

#include "data/scratch.h"

#include <cmath>
#include <numeric>
#include <set>

namespace tutti::data {
namespace {

struct Everything {
  std::vector<float> x;
  std::vector<std::int32_t> labels;
};

Everything all_of(const Dataset& data) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(data.count));
  std::iota(indices.begin(), indices.end(), 0);
  Everything all;
  all.x.resize(static_cast<std::size_t>(data.count * elements(data.sample_shape())));
  all.labels.resize(indices.size());
  data.read(indices, {.fields = {all.x.data(), all.labels.data()}});
  return all;
}

std::unique_ptr<Dataset> open(const Settings& given, Split split) {
  return digits().open(resolve(digits().settings, given, "test"), split);
}

// Counts per class and the sum of all pixels were taken from scikit-learn's copy.
TEST(Digits, TheImagesAreUcis) {
  const int expected[] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  int found[10] = {}, sum = 0;
  for (const auto& row : digit_rows) {
    ++found[row[digit_pixels] - '0'];
    for (int i = 0; i < digit_pixels; ++i) sum += row[i] - 'A';
  }
  for (int label = 0; label < 10; ++label) EXPECT_EQ(found[label], expected[label]) << label;
  EXPECT_EQ(sum, 561718);
}

TEST(Digits, PartsAreFixedDisjointAndWhole) {
  const auto train = open({}, Split::train), test = open({}, Split::test);
  EXPECT_EQ(train->count, 1437);
  EXPECT_EQ(test->count, 360);
  EXPECT_EQ(train->sample_shape(), (Shape{1, 8, 8}));
  EXPECT_EQ(train->classes, 10);
  std::multiset<std::string> parts, embedded;
  const Settings raw = {{"mean", 0.0}, {"std", 1.0}};
  for (Split split : {Split::train, Split::test}) {
    const Everything all = all_of(*open(raw, split));
    for (std::size_t i = 0; i < all.labels.size(); ++i) {
      std::string row;
      for (int j = 0; j < digit_pixels; ++j)
        row += static_cast<char>('A' + std::lround(16 * all.x[i * digit_pixels + j]));
      parts.insert(row + static_cast<char>('0' + all.labels[i]));
    }
  }
  for (const auto& row : digit_rows) embedded.insert(row);
  EXPECT_EQ(parts, embedded);
  // Recipes rely on the division: these are the first labels of the test part.
  const Everything all = all_of(*test);
  std::string first;
  for (int i = 0; i < 10; ++i) first += static_cast<char>('0' + all.labels[i]);
  EXPECT_EQ(first, "5107566219");
}

TEST(Digits, DefaultScalingGivesMeanZeroAndVarianceOne) {
  const Everything all = all_of(*open({}, Split::train));
  double sum = 0, squares = 0;
  for (float value : all.x) sum += value, squares += value * value;
  const double n = static_cast<double>(all.x.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
}

TEST(Digits, EnlargedAndPadded) {
  const Settings given = {{"size", std::int64_t{28}}, {"padding", std::int64_t{4}}};
  const auto data = open(given, Split::train);
  EXPECT_EQ(data->sample_shape(), (Shape{1, 28, 28}));
  const Everything small = all_of(*open({}, Split::train)), large = all_of(*data);
  EXPECT_EQ(large.labels, small.labels);
  const float background = static_cast<float>(-0.3053 / 0.3760);
  for (int image = 0; image < 20; ++image) {
    const float* x = &large.x[image * 784];
    for (int i = 0; i < 28; ++i)
      for (int border : {0, 3, 24, 27}) {
        EXPECT_FLOAT_EQ(x[border * 28 + i], background);
        EXPECT_FLOAT_EQ(x[i * 28 + border], background);
      }
    double small_sum = 0, large_sum = 0;
    for (int i = 0; i < 64; ++i) small_sum += small.x[image * 64 + i] - background;
    for (int i = 0; i < 784; ++i) large_sum += x[i] - background;
    EXPECT_NEAR(large_sum / 400, small_sum / 64, 0.02) << "the mean ink stays";
  }
}

TEST(Digits, DoubleReadsTheSameNumbers) {
  const auto data = open({{"size", std::int64_t{11}}}, Split::test);
  const std::int64_t indices[] = {359, 0};
  std::vector<float> single(2 * 121);
  std::vector<double> twice(2 * 121);
  data->read(indices, {.fields = {single.data()}});
  data->read(indices, {.dtype = DType::f64, .fields = {twice.data()}});
  for (std::size_t i = 0; i < single.size(); ++i) EXPECT_EQ(twice[i], double{single[i]});
}

TEST(Digits, Errors) {
  expect_error([] { open({{"size", std::int64_t{7}}}, Split::train); }, {"size", "7", "8"});
  expect_error(
      [] {
        open({{"size", std::int64_t{12}}, {"padding", std::int64_t{3}}}, Split::train);
      },
      {"size 12", "padding of 3", "leaves 6", "at least 8"});
  expect_error([] { open({{"std", 0.0}}, Split::train); }, {"std"});
  const auto data = open({}, Split::test);
  const std::int64_t outside[] = {360};
  EXPECT_THROW(data->read(outside, {}), std::logic_error);
}

}  // namespace
}  // namespace tutti::data
