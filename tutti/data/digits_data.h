// SPDX-License-Identifier: Apache-2.0
// The embedded handwritten digits as text, see digits.md: one row per image, a letter per pixel
// ('A' + value, values 0 to 16, row-major) and the label's digit.
#pragma once

namespace tutti::data {

inline constexpr int digit_count = 1797;
inline constexpr int digit_extent = 8;
inline constexpr int digit_pixels = digit_extent * digit_extent;

extern const char digit_rows[digit_count][digit_pixels + 2];

}  // namespace tutti::data
