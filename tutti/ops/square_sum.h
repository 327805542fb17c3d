// SPDX-License-Identifier: Apache-2.0
// The sum of squares over blocks of the gradient, or over a part of each block.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op square_sum;  // square_sum(g…; firsts, counts) -> Σ g²

// The elements [first, first + count) of an input that square_sum adds.
struct SquareSumPart {
  std::int64_t first = 0, count = 0;
};
inline SquareSumPart square_sum_part(const Settings& settings, const Shape& shape, std::size_t k) {
  const Shape& counts = settings.integers("counts");
  if (counts.empty()) return {0, elements(shape)};
  return {settings.integers("firsts")[k], counts[k]};
}

}  // namespace tutti::ops
