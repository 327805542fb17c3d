// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace tutti {
namespace {

// The published SplitMix64 sequence of seed 0: state grows by the golden gamma, then is mixed.
TEST(Rng, MixerIsSplitMix64) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafull);
  EXPECT_EQ(mix(0x9e3779b97f4a7c15ull), 0x6e789e6aa1b965f4ull);
  EXPECT_EQ(mix(2 * 0x9e3779b97f4a7c15ull), 0x06c45d188009454full);
}

TEST(Rng, DrawIsAFunctionOfKeyAndCounter) {
  static_assert(draw(1, 2) == draw(1, 2));
  EXPECT_NE(draw(1, 2), draw(1, 3));
  EXPECT_NE(draw(1, 2), draw(2, 2));
  EXPECT_NE(fold(1, 2), fold(2, 1));
  std::set<std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 100; ++key)
    for (std::uint64_t counter = 0; counter < 100; ++counter)
      seen.insert(draw(fold(7, key), counter));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(Rng, UniformIsUniform) {
  constexpr int n = 100000;
  std::array<int, 10> bins = {};
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double u = uniform(3, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    ++bins[static_cast<std::size_t>(u * 10)];
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));  // five standard errors
  for (int count : bins) EXPECT_NEAR(count, n / 10, 5 * std::sqrt(n * 0.09));
}

TEST(Rng, NormalHasItsMoments) {
  constexpr int n = 100000;
  double first = 0, second = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double x = normal(fold(4, 5), static_cast<std::uint64_t>(i));
    ASSERT_TRUE(std::isfinite(x));
    first += x / n;
    second += x * x / n;
    fourth += x * x * x * x / n;
  }
  EXPECT_NEAR(first, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(second, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0 / n));
}

TEST(Rng, NeighbouringDrawsDoNotCorrelate) {
  constexpr int n = 100000;
  double counters = 0, keys = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    counters += (uniform(9, i) - 0.5) * (uniform(9, i + 1) - 0.5);
    keys += (uniform(fold(9, i), 0) - 0.5) * (uniform(fold(9, i + 1), 0) - 0.5);
  }
  const double bound = 5 * std::sqrt(n) / 12;
  EXPECT_NEAR(counters, 0, bound);
  EXPECT_NEAR(keys, 0, bound);
}

}  // namespace
}  // namespace tutti
