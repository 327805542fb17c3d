// SPDX-License-Identifier: Apache-2.0
// Samples of different lengths. A step is compiled for a batch in which all samples have room for
// equally many tokens. There are a few such capacities, the buckets; a batch goes into the smallest
// bucket that holds its longest sample. The bucket depends on the samples of the batch only, never
// on ranks.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/data/dataset.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::data {

// The setting 'buckets' of data sets with fields per token.
std::vector<Setting> bucket_settings();

// The buckets that the settings give, or powers of two, in ascending order. The last bucket holds
// `longest` tokens; throws Error when the settings give none that does.
std::vector<std::int64_t> buckets_of(const Settings& settings, std::int64_t longest);

// The tokens of all samples at `indices` together, and the bucket that holds the longest sample.
struct BatchTokens {
  std::int64_t count = 0, bucket = 0;
};
BatchTokens tokens_of(const Dataset& dataset, std::span<const std::int64_t> indices);

}  // namespace tutti::data
