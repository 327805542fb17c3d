// SPDX-License-Identifier: Apache-2.0
// A shape is a list of extents, outermost first; tensors are row-major unless a layout says
// otherwise.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tutti {

using Shape = std::vector<std::int64_t>;

inline std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

// No tensor has more elements: 16 TiB of floats. Sums and products of sizes stay far from overflow.
constexpr std::int64_t most_elements = std::int64_t{1} << 42;
// Whether the shape has at most `most_elements`, found without overflow.
bool is_countable(const Shape& shape);

// Product of the extents in [first, last).
inline std::int64_t elements(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t i = first; i < last; ++i) count *= shape[i];
  return count;
}

// "128×6×28×28"; a scalar is "scalar".
std::string to_string(const Shape& shape);

}  // namespace tutti
