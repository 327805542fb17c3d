// SPDX-License-Identifier: Apache-2.0
// The update of a block of weights and optimizer state from its gradient, by an update rule; and
// `measure`, the norms over the block that rules with a trust ratio (LARS, LAMB) need first. Both
// operators have the same settings.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// measure(g, w, s…, norm?; as update) -> [Σ w², Σ d²], where d is the direction of the update
extern const Op measure;
// update(g, w, s…, squares?, norm?, rows?, word?; rule, …) -> w, s…, Σ g²
extern const Op update;

// Whether update is given the norm of the gradient.
inline bool has_norm(const Settings& update_settings) {
  return update_settings.real("clip_norm") > 0 || update_settings.flag("guarded");
}

// Whether update is given the sums of squares that measure returned.
inline bool has_squares(const Settings& update_settings) {
  return update_settings.flag("measured");
}

// Whether an input of update names rows; then only these rows have a gradient and change.
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
