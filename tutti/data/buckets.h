// SPDX-License-Identifier: Apache-2.0
// Samples of different lengths. A step is compiled for a batch in which all samples have room for
// equally many tokens; these capacities are few, the buckets, and a batch goes into the smallest
// one that holds its longest sample. That is a function of which samples they are, never of ranks.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/data/dataset.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::data {

// The setting 'buckets' of data sets with fields per token.
std::vector<Setting> bucket_settings();

// Those of the settings, or powers of two, ascending; the last one holds `longest` tokens. Throws
// Error when the settings give none that does.
std::vector<std::int64_t> buckets_of(const Settings& settings, std::int64_t longest);

// Tokens of the samples at `indices`: of all together, and the bucket that holds each.
struct BatchTokens {
  std::int64_t count = 0, bucket = 0;
};
BatchTokens tokens_of(const Dataset& dataset, std::span<const std::int64_t> indices);

}  // namespace tutti::data
