// SPDX-License-Identifier: Apache-2.0
// Range operators close a step: they work on contiguous blocks of the flat vectors of parameters,
// gradients and optimizer state, and know nothing of layers.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op join;           // join(g…; offset, count, dtype) -> block [count]
extern const Op reduce;         // reduce(g…; axis, offset, count, dtype) -> block [count]
extern const Op gradient_norm;  // gradient_norm(g…) -> √Σ g²
extern const Op update;         // update(g, w, s…, norm?; rule, hyper, …) -> w, s…, Σ g²

// Whether update's last input is the norm.
inline bool has_norm(const Settings& update_settings) {
  return update_settings.real("clip_norm") > 0;
}

// How many state blocks an update with `inputs` inputs has.
inline int state_blocks(const Settings& update_settings, std::size_t inputs) {
  return static_cast<int>(inputs) - 2 - (has_norm(update_settings) ? 1 : 0);
}

}  // namespace tutti::ops
