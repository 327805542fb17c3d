// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/resize.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <cmath>

namespace tutti::data {
namespace {

// The two source pixels under a target pixel's centre, and the weight of the second.
struct Tap {
  std::int64_t first = 0, second = 0;
  double weight = 0;
};

std::vector<Tap> taps(std::int64_t from, std::int64_t to) {
  std::vector<Tap> all(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double at = std::clamp(centre, 0.0, static_cast<double>(from - 1));
    const auto first = static_cast<std::int64_t>(at);
    all[i] = {first, std::min(first + 1, from - 1), at - static_cast<double>(first)};
  }
  return all;
}

}  // namespace

std::vector<float> resize_bilinear(std::span<const float> plane, std::int64_t height,
                                   std::int64_t width, std::int64_t new_height,
                                   std::int64_t new_width) {
  check(static_cast<std::int64_t>(plane.size()) == height * width && height > 0 && width > 0,
        "the plane has height × width pixels");
  const std::vector<Tap> rows = taps(height, new_height), columns = taps(width, new_width);
  std::vector<float> resized;
  resized.reserve(static_cast<std::size_t>(new_height * new_width));
  for (const Tap& row : rows)
    for (const Tap& column : columns) {
      const auto across = [&](std::int64_t y) {
        const double left = plane[y * width + column.first],
                     right = plane[y * width + column.second];
        return left + column.weight * (right - left);
      };
      const double top = across(row.first), bottom = across(row.second);
      resized.push_back(static_cast<float>(top + row.weight * (bottom - top)));
    }
  return resized;
}

}  // namespace tutti::data
