// SPDX-License-Identifier: Apache-2.0
// The ten digits as bitmaps of 7×12 pixels, +1 for ink and −1 for paper: the output codes of
// LeNet-5.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::nn {

constexpr std::int64_t digit_code_length = 7 * 12, digit_code_count = 10;

// The first `count` codes, one after the other, row by row.
std::vector<float> digit_codes(std::int64_t count);

}  // namespace tutti::nn
