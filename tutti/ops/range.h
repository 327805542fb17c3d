// SPDX-License-Identifier: Apache-2.0
// Range operators close a step: they work on contiguous blocks of the flat vectors of parameters,
// gradients and optimizer state, and know nothing of layers.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op join;     // join(g…; offset, count, dtype, firsts) -> block [count]
extern const Op section;  // section(block; offset, shape) -> some of its elements
extern const Op
    allreduce_block;      // allreduce_block(g…; axes, offset, count, dtype) -> block [count]
extern const Op measure;  // measure(g, w, s…, norm?; as update) -> Σ w², Σ d²
extern const Op update;  // update(g, w, s…, squares?, norm?, rows?, word?; rule, …) -> w, s…, Σ g²
extern const Op reduce_scatter;  // reduce_scatter(block; axes, part_offset, part_count) -> part
extern const Op allgather;       // allgather(part; axes, part_offset, count) -> block [count]
extern const Op square_sum;      // square_sum(g…; firsts, counts) -> Σ g²
extern const Op gradient_norm;   // gradient_norm(Σ g²; dtype) -> √Σ g²

// The elements of input k that square_sum adds.
struct SquareSumPart {
  std::int64_t first = 0, count = 0;
};
inline SquareSumPart square_sum_part(const Settings& settings, const Shape& shape, std::size_t k) {
  const Shape& counts = settings.integers("counts");
  if (counts.empty()) return {0, elements(shape)};
  return {settings.integers("firsts")[k], counts[k]};
}

// Whether update is given the norm of the gradient.
inline bool has_norm(const Settings& update_settings) {
  return update_settings.real("clip_norm") > 0 || update_settings.flag("guarded");
}

// Whether update is given what `measure` found over the range.
inline bool has_squares(const Settings& update_settings) {
  return update_settings.flag("measured");
}

// Whether only the rows that an input of update names have a gradient and change.
inline bool has_rows(const Settings& update_settings) {
  return update_settings.integer("row_width") > 0;
}

// Whether update's last input is the word that `guard` returns.
inline bool has_guard(const Settings& update_settings) { return update_settings.flag("sticky"); }

// How many state blocks an update with `inputs` inputs has.
inline int state_blocks(const Settings& update_settings, std::size_t inputs) {
  return static_cast<int>(inputs) - 2 - (has_norm(update_settings) ? 1 : 0) -
         (has_squares(update_settings) ? 1 : 0) - (has_rows(update_settings) ? 1 : 0) -
         (has_guard(update_settings) ? 1 : 0);
}

}  // namespace tutti::ops
