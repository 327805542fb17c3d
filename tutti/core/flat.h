// SPDX-License-Identifier: Apache-2.0
// Parameters as one flat vector: a table name → range. The same table describes the gradients and
// every optimizer state vector; inside a range the tensor is plain row-major, always.
#pragma once

#include "tutti/core/shape.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// A parameter's place in the flat vectors, and how updates treat it.
struct Range {
  std::string name;
  Shape shape;              // of the part held here
  std::int64_t offset = 0;  // first element in the flat vector
  std::int64_t count = 0;   // elements
  Shape global_shape;       // of the named tensor; equal to `shape` when it is held whole
  Shape start;              // where the part begins in the global tensor
  bool trainable = true;    // frozen ranges have no gradient and no update
  double weight_decay = 1;  // multiplies the rule's weight decay (0 for biases)
  double rate = 1;          // multiplies the learning rate
  bool row_sparse = false;  // a step touches few rows; the gradient of the others is zero
  bool trust_ratio = true;  // a rule that scales steps by norms does so in this range

  std::int64_t end() const { return offset + count; }
};

// Ranges in order of offset; each begins at a multiple of `alignment` elements, gaps stay zero.
struct RangeTable {
  static constexpr std::int64_t alignment = 16;

  std::vector<Range> ranges;

  // Appends a tensor held whole and returns its index.
  int add(std::string name, Shape shape);
  // Throws Error when there is no range of this name.
  const Range& find(std::string_view name) const;
  // The range that begins at this element; nullptr when none does.
  const Range* at(std::int64_t offset) const;
  // Elements of the flat vector, gaps included.
  std::int64_t count() const;
  // Elements that are parameters, gaps excluded.
  std::int64_t parameters(bool trainable_only) const;
};

// Elements [offset, offset + count) of a flat vector, which a rank holds from element `held_offset`
// of its own memory on.
struct VectorPart {
  std::int64_t offset = 0, count = 0, held_offset = 0;
};

// What a rank holds of a flat vector: all of it, or its own parts one after the other.
struct VectorLayout {
  std::vector<VectorPart> parts;
  std::int64_t count = 0;  // elements that the rank holds, gaps included
};

}  // namespace tutti
