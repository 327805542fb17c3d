// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace tutti::data {
namespace {

std::vector<std::int64_t> all_of(std::int64_t count, std::uint64_t key) {
  const Permutation permutation(count, key);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(permutation(i));
  return values;
}

TEST(Permutation, IsABijectionForEveryCount) {
  for (std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 99, 100, 101, 1797, 60000}) {
    std::vector<std::int64_t> values = all_of(count, 42), expected(values.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, expected) << count;
  }
}

TEST(Permutation, DependsOnTheKey) {
  EXPECT_EQ(all_of(1000, 1), all_of(1000, 1));
  EXPECT_NE(all_of(1000, 1), all_of(1000, 2));
}

// Over many keys each of the 4! orders is equally likely: chi-squared with 23 degrees of freedom is
// below 49.7 with probability 0.999; the keys are fixed, so the test can't fail by chance.
TEST(Permutation, OrdersOfFourAreEquallyLikely) {
  constexpr int keys = 24000;
  std::map<std::vector<std::int64_t>, int> seen;
  for (int key = 0; key < keys; ++key) ++seen[all_of(4, key)];
  EXPECT_EQ(seen.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, times] : seen) {
    const double expected = keys / 24.0;
    chi_squared += (times - expected) * (times - expected) / expected;
  }
  EXPECT_LT(chi_squared, 49.7);
}

// A random permutation keeps 1 of n neighbours on average and has mean |p(i) − i| of n/3.
TEST(Permutation, LargeOnesAreWellMixed) {
  constexpr std::int64_t count = 50000;
  const std::vector<std::int64_t> values = all_of(count, 7);
  double distance = 0;
  int neighbours = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    distance += std::abs(static_cast<double>(values[i] - i));
    if (i > 0 && values[i] == values[i - 1] + 1) ++neighbours;
  }
  EXPECT_NEAR(distance / count, count / 3.0, 0.02 * count);
  EXPECT_LT(neighbours, 10);
}

}  // namespace
}  // namespace tutti::data
