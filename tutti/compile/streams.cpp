// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/streams.h"

namespace tutti {
namespace {

// What a rank holds of the carried state: its rows of each tensor, one tensor behind the other.
VectorLayout layout_of_rank(const RangeTable& table, int rank, int ranks) {
  VectorLayout layout;
  RangeTable held;
  for (const Range& range : table.ranges) {
    const std::int64_t streams = range.shape[0], width = range.count / streams;
    const std::int64_t first = streams * rank / ranks, last = streams * (rank + 1) / ranks;
    Shape shape = range.shape;
    shape[0] = last - first;
    held.add(range.name, shape);
    layout.parts.push_back({.offset = range.offset + first * width,
                            .count = held.ranges.back().count,
                            .held_offset = held.ranges.back().offset});
  }
  layout.count = held.count();
  return layout;
}

}  // namespace

FlatVector carried_vector(const RangeTable& table, DType dtype, int rank, int ranks) {
  const auto of_rank = [table, ranks](int theirs) { return layout_of_rank(table, theirs, ranks); };
  return {.name = "carried state",
          .base = Base::carried,
          .dtype = dtype,
          .spread = FlatVector::by_stream,
          .whole_count = table.count(),
          .layout = of_rank(rank),
          .layout_of = of_rank};
}

}  // namespace tutti
