// SPDX-License-Identifier: Apache-2.0
// Inverted dropout. The mask is defined here so that every kernel makes the same one. It is a pure
// function of the step's key, the node's origin and the element's index in the whole batch.
#pragma once

#include "tutti/core/rng.h"
#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op dropout;  // dropout(x; rate) -> y

// Which elements one node keeps in one step.
struct DropoutMask {
  std::uint64_t key = 0;
  std::uint64_t first = 0;      // index in the whole batch of this rank's first element
  std::uint32_t threshold = 0;  // an element is dropped when the top half of its draw is below this
  double factor = 1;            // of the elements that are kept: 1 / (1 - rate)

  bool keeps(std::int64_t i) const {
    return static_cast<std::uint32_t>(draw(key, first + static_cast<std::uint64_t>(i)) >> 32) >=
           threshold;
  }
};

inline DropoutMask dropout_mask(const Settings& settings, const Shape& shape, const StepState& step,
                                int origin) {
  const double rate = settings.real("rate");
  const std::int64_t per_sample =
      settings.integer("sample_rows") * elements(shape, 1, shape.size());
  return {.key = fold(step.key, static_cast<std::uint64_t>(origin)),
          .first = static_cast<std::uint64_t>(step.origins[StepState::samples] * per_sample),
          .threshold = static_cast<std::uint32_t>(rate * 0x1.0p32),
          .factor = 1 / (1 - rate)};
}

}  // namespace tutti::ops
