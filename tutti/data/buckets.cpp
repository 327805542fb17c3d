// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/buckets.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::data {

std::vector<Setting> bucket_settings() {
  return {{.name = "buckets",
           .initial = std::vector<std::int64_t>{},
           .doc = "tokens that samples of a batch have room for: a step is compiled for each; []: "
                  "powers of two",
           .min = 1,
           .max = 1e9}};
}

std::vector<std::int64_t> buckets_of(const Settings& settings, std::int64_t longest) {
  std::vector<std::int64_t> buckets = settings.integers("buckets");
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  if (buckets.empty()) {
    buckets.push_back(1);
    while (buckets.back() < longest) buckets.push_back(2 * buckets.back());
  }
  if (buckets.back() < longest)
    throw Error("'buckets' is {}, but the longest sample has {} tokens: expected one that holds it",
                buckets, longest);
  return buckets;
}

BatchTokens tokens_of(const Dataset& dataset, std::span<const std::int64_t> indices) {
  BatchTokens tokens;
  std::int64_t longest = 0;
  for (const std::int64_t index : indices) {
    const std::int64_t own = dataset.tokens(index);
    tokens.count += own;
    longest = std::max(longest, own);
  }
  const auto holds = std::lower_bound(dataset.buckets.begin(), dataset.buckets.end(), longest);
  check(holds != dataset.buckets.end(), "the largest bucket holds the longest sample");
  tokens.bucket = *holds;
  return tokens;
}

}  // namespace tutti::data
