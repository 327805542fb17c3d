// SPDX-License-Identifier: Apache-2.0
// The triangle filter, rows first, then columns. Enlarging, a new pixel mixes the two old ones
// around its centre; shrinking, the triangle is as wide as a new pixel, so that every old pixel
// counts. Weights outside the plane go to its border.
#include "tutti/data/resize.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <cmath>

namespace tutti::data {
namespace {

// The old pixels that a new one is made of.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> weights;  // they add up to 1
};

std::vector<Taps> taps(std::int64_t from, std::int64_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to),
               width = std::max(step, 1.0);
  std::vector<Taps> all(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step - 0.5;
    const auto low = static_cast<std::int64_t>(std::floor(centre - width)) + 1,
               high = static_cast<std::int64_t>(std::ceil(centre + width)) - 1;
    Taps& made = all[i];
    made.first = std::clamp<std::int64_t>(low, 0, from - 1);
    const std::int64_t last = std::clamp<std::int64_t>(high, 0, from - 1);
    made.weights.resize(static_cast<std::size_t>(last - made.first + 1));
    double sum = 0;
    for (std::int64_t j = low; j <= high; ++j) {
      const double weight = 1 - std::abs(static_cast<double>(j) - centre) / width;
      made.weights[std::clamp(j, made.first, last) - made.first] += weight;
      sum += weight;
    }
    for (double& weight : made.weights) weight /= sum;
  }
  return all;
}

}  // namespace

std::vector<float> resize_bilinear(std::span<const float> plane, std::int64_t height,
                                   std::int64_t width, std::int64_t new_height,
                                   std::int64_t new_width) {
  check(static_cast<std::int64_t>(plane.size()) == height * width && height > 0 && width > 0,
        "the plane has height × width pixels");
  if (height == new_height && width == new_width) return {plane.begin(), plane.end()};
  const std::vector<Taps> rows = taps(height, new_height), columns = taps(width, new_width);
  std::vector<double> narrowed(static_cast<std::size_t>(height * new_width));
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < new_width; ++x) {
      const float* from = plane.data() + y * width + columns[x].first;
      double sum = 0;
      for (const double weight : columns[x].weights) sum += weight * static_cast<double>(*from++);
      narrowed[y * new_width + x] = sum;
    }
  std::vector<float> resized;
  resized.reserve(static_cast<std::size_t>(new_height * new_width));
  std::vector<double> row(static_cast<std::size_t>(new_width));
  for (const Taps& mixed : rows) {
    std::fill(row.begin(), row.end(), 0.0);
    const double* from = narrowed.data() + mixed.first * new_width;
    for (const double weight : mixed.weights)
      for (double& value : row) value += weight * *from++;
    for (const double value : row) resized.push_back(static_cast<float>(value));
  }
  return resized;
}

}  // namespace tutti::data
