// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing of one image plane, smoothed when it shrinks; pixel centres lie at
// half-integers and borders are repeated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::data {

// `plane` of height × width as new_height × new_width, row-major.
std::vector<float> resize_bilinear(std::span<const float> plane, std::int64_t height,
                                   std::int64_t width, std::int64_t new_height,
                                   std::int64_t new_width);

}  // namespace tutti::data
