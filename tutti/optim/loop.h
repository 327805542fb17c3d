// SPDX-License-Identifier: Apache-2.0
// The loop that applies an update rule to elements [begin, end) of the flat vectors: scale and
// clamp the gradient, then the rule's scalar function. Constants are made once, so that it
// vectorises (with ivdep; under "omp simd" GCC 12 keeps the local states in memory and does not).
#pragma once

#include "tutti/optim/hyper.h"

#include <limits>

namespace tutti {

constexpr int max_rule_states = 4;

template <class F, class T>
TUTTI_INLINE void update_loop(T* __restrict w, const T* __restrict g, void* const* states,
                              std::int64_t begin, std::int64_t end, const Hyper& hyper) {
  static_assert(F::states <= max_rule_states);
  const auto c = F::template constants<T>(hyper);
  const T scale = static_cast<T>(hyper.scale);
  const T bound =
      hyper.clip_value > 0 ? static_cast<T>(hyper.clip_value) : std::numeric_limits<T>::infinity();
  T* s[max_rule_states] = {};
  for (int k = 0; k < F::states; ++k) s[k] = static_cast<T*>(states[k]);
#pragma GCC ivdep
  for (std::int64_t i = begin; i < end; ++i) {
    T gradient = g[i] * scale;
    // Written so that a NaN passes through.
    gradient = gradient > bound ? bound : gradient;
    gradient = gradient < -bound ? -bound : gradient;
    T state[max_rule_states];
#pragma GCC unroll 4
    for (int k = 0; k < F::states; ++k) state[k] = s[k][i];
    T weight = w[i];
    F::template step<T>(weight, gradient, state, c);
    w[i] = weight;
#pragma GCC unroll 4
    for (int k = 0; k < F::states; ++k) s[k][i] = state[k];
  }
}

}  // namespace tutti
