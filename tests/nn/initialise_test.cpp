// SPDX-License-Identifier: Apache-2.0
// A05: variances of first weights, and that they depend on (seed, range, element) only.
#include "tutti/nn/layer.h"
#include "tutti/nn/net.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

struct Moments {
  double mean = 0, variance = 0, largest = 0;
};

template <class T>
Moments moments(const T* values, std::int64_t count) {
  Moments m;
  for (std::int64_t i = 0; i < count; ++i) m.mean += values[i] / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    m.variance += (values[i] - m.mean) * (values[i] - m.mean) / static_cast<double>(count);
    m.largest = std::max(m.largest, std::abs(static_cast<double>(values[i])));
  }
  return m;
}

// 400 × 250 weights: 1e5 draws.
Net linear_net(const char* init, DType dtype = DType::f32) {
  return build_net(layers(), {{{"type", "linear"}, {"units", 400}, {"init", init}}},
                   {.fields = input_and_labels({250}), .classes = 400, .dtype = dtype});
}

template <class T = float>
std::vector<T> initialised(const Net& net, std::uint64_t seed) {
  std::vector<T> w(static_cast<std::size_t>(net.table.count()), T{-7});
  initialise(net, seed, w.data());
  return w;
}

TEST(Initialise, A05VariancesWithinTwoPercent) {
  const struct {
    const char* init;
    double variance;
  } cases[] = {{"he", 2.0 / 250}, {"xavier", 2.0 / 650}, {"uniform", 1.0 / (3 * 250)}};
  for (const auto& [init, variance] : cases) {
    const std::vector<float> w = initialised(linear_net(init), 3);
    const Moments m = moments(w.data(), 100000);
    EXPECT_NEAR(m.variance, variance, 0.02 * variance) << init;
    EXPECT_NEAR(m.mean, 0, 4 * std::sqrt(variance / 1e5)) << init;
  }
}

TEST(Initialise, UniformStaysWithinItsBoundForWeightAndBias) {
  const std::vector<float> w = initialised(linear_net("uniform"), 3);
  const double bound = 1 / std::sqrt(250.0);
  EXPECT_LE(moments(w.data(), 100400).largest, bound);
  EXPECT_GT(moments(w.data() + 100000, 400).largest, 0.98 * bound);
}

TEST(Initialise, BiasesOfOtherKindsAreZero) {
  for (const char* init : {"he", "xavier", "zero"})
    EXPECT_EQ(moments(initialised(linear_net(init), 3).data() + 100000, 400).largest, 0) << init;
}

// Fans of a convolution are those of one group.
TEST(Initialise, A05ConvolutionFans) {
  const Net net = build_net(
      layers(),
      {{{"type", "convolution"}, {"channels", 400}, {"kernel", 5}, {"groups", 2}, {"init", "he"}},
       {{"type", "global_average_pool"}}},
      {.fields = input_and_labels({20, 6, 6}), .classes = 400});
  const double variance = 2.0 / (10 * 25);
  EXPECT_NEAR(moments(initialised(net, 3).data(), 100000).variance, variance, 0.02 * variance);
  EXPECT_EQ(net.initialisers[0].fan_out, 200 * 25);
}

// A05: ten linear layers of width 256 keep the variance of what passes through them.
TEST(Initialise, A05XavierKeepsTheVarianceThroughTenLayers) {
  constexpr std::int64_t width = 256, depth = 10, samples = 4, seeds = 20;
  const std::vector<Settings> tables(
      depth, {{"type", "linear"}, {"units", width}, {"bias", false}, {"init", "xavier"}});
  const Net net =
      build_net(layers(), tables, {.fields = input_and_labels({width}), .classes = width});
  double ratio = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<float> w = initialised(net, seed);
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      std::vector<double> x(width), y(width);
      for (std::uint64_t i = 0; i < width; ++i) x[i] = normal(fold(seed, sample), i);
      const double before = moments(x.data(), width).variance;
      for (const Range& range : net.table.ranges) {
        for (std::size_t o = 0; o < width; ++o) {
          const float* row = w.data() + range.offset + static_cast<std::int64_t>(o) * width;
          y[o] = 0;
          for (std::size_t i = 0; i < width; ++i) y[o] += row[i] * x[i];
        }
        std::swap(x, y);
      }
      ratio += moments(x.data(), width).variance / before / (samples * seeds);
    }
  }
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.1);
}

TEST(Initialise, DependsOnTheSeedOnly) {
  const Net net = linear_net("he");
  EXPECT_EQ(initialised(net, 5), initialised(net, 5));
  EXPECT_NE(initialised(net, 5), initialised(net, 6));
}

TEST(Initialise, FloatIsTheDoubleRounded) {
  const std::vector<float> w = initialised(linear_net("he"), 5);
  const std::vector<double> exact = initialised<double>(linear_net("he", DType::f64), 5);
  ASSERT_EQ(w.size(), exact.size());
  for (std::size_t i = 0; i < w.size(); ++i) ASSERT_EQ(w[i], static_cast<float>(exact[i]));
}

TEST(Initialise, RangesDrawFromStreamsOfTheirOwn) {
  const Net net = build_net(
      layers(), {{{"type", "linear"}, {"units", 16}}, {{"type", "linear"}, {"units", 16}}},
      {.fields = input_and_labels({16}), .classes = 16});
  const std::vector<float> w = initialised(net, 1);
  const std::int64_t second = net.table.find("linear2.weight").offset;
  EXPECT_FALSE(std::equal(w.begin(), w.begin() + 256, w.begin() + second));
}

TEST(Initialise, ConstantsGivenValuesAndGaps) {
  Net net;
  net.parameter("ones", {3}, {.kind = Initialiser::one});
  net.parameter("constant", {2}, {.kind = Initialiser::constant, .value = 2.5});
  net.parameter("given", {2}, {.kind = Initialiser::given, .values = {4, -5}});
  const std::vector<float> w = initialised(net, 1);
  std::vector<float> expected(48, 0);
  expected[0] = expected[1] = expected[2] = 1;
  expected[16] = expected[17] = 2.5;
  expected[32] = 4;
  expected[33] = -5;
  EXPECT_EQ(w, expected);
}

}  // namespace
}  // namespace tutti
