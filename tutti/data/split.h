// SPDX-License-Identifier: Apache-2.0
// Which samples of one collection are for training and which for testing: a shuffle by a seed, of
// which a fraction at the end is the test part. It depends on nothing but the seed and the count.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/data/dataset.h"

#include <cstdint>
#include <vector>

namespace tutti::data {

// The settings 'test_fraction' and 'split_seed'.
std::vector<Setting> split_settings();

// The samples of a part, in ascending order. Throws Error when the part would have none.
std::vector<std::int64_t> members_of(std::int64_t count, const Settings& settings, Split split);

}  // namespace tutti::data
