// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/flat.h"

#include "tutti/core/error.h"

#include <algorithm>

namespace tutti {
namespace {

std::int64_t aligned(std::int64_t offset) {
  constexpr std::int64_t step = RangeTable::alignment;
  return (offset + step - 1) / step * step;
}

}  // namespace

int RangeTable::add(std::string name, Shape shape) {
  Range range;
  range.name = std::move(name);
  range.shape = range.global_shape = shape;
  range.start = Shape(shape.size(), 0);
  range.offset = count();
  range.count = elements(shape);
  ranges.push_back(std::move(range));
  return static_cast<int>(ranges.size()) - 1;
}

const Range& RangeTable::find(std::string_view name) const {
  for (const Range& range : ranges)
    if (range.name == name) return range;
  throw Error("there is no parameter '{}'", name);
}

const Range* RangeTable::at(std::int64_t offset) const {
  const auto found = std::partition_point(
      ranges.begin(), ranges.end(), [&](const Range& range) { return range.offset < offset; });
  return found != ranges.end() && found->offset == offset ? &*found : nullptr;
}

std::int64_t RangeTable::count() const { return ranges.empty() ? 0 : aligned(ranges.back().end()); }

std::int64_t RangeTable::parameters(bool trainable_only) const {
  std::int64_t total = 0;
  for (const Range& range : ranges)
    if (range.trainable || !trainable_only) total += range.count;
  return total;
}

}  // namespace tutti
