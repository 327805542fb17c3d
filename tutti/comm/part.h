// SPDX-License-Identifier: Apache-2.0
// How a vector is cut over ranks: equal parts in whole cache lines, so that no line has two
// writers. The last parts of a short vector are empty. bf16 is cut where floats would be, so that a
// rank's part of the rounded gradients holds the same elements as its part of the gradients.
#pragma once

#include "tutti/core/dtype.h"

#include <algorithm>
#include <cstdint>

namespace tutti {

inline constexpr std::int64_t line_bytes = 64;

// Elements [begin, end) of a vector.
struct Part {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
};

// The part that `rank` owns of a vector of `count` elements.
inline Part part_of(std::int64_t count, DType dtype, int rank, int ranks) {
  const std::int64_t line = line_bytes / bytes_of(dtype == DType::bf16 ? DType::f32 : dtype);
  const std::int64_t lines = (count + line - 1) / line;
  const std::int64_t part = (lines + ranks - 1) / ranks * line;
  return {std::min(count, rank * part), std::min(count, (rank + 1) * part)};
}

}  // namespace tutti
