// SPDX-License-Identifier: Apache-2.0
// The loops that apply an update rule to elements [begin, end) of the flat vectors: scale and clamp
// the gradient, then the rule's scalar function. The constants of the rule are computed before the
// loop, so that the loop vectorises (with ivdep; under "omp simd" GCC 12 keeps the local states in
// memory and does not vectorise).
#pragma once

#include "tutti/optim/hyper.h"

#include <limits>

namespace tutti {

constexpr int max_rule_states = 4;

// Clamps to ±bound; written so that a NaN passes through.
template <class T>
TUTTI_INLINE T clamped(T gradient, T bound) {
  gradient = gradient > bound ? bound : gradient;
  return gradient < -bound ? -bound : gradient;
}

// The bound for clamped(); infinite where clipping is off.
template <class T>
TUTTI_INLINE T bound_of(const Hyper& hyper) {
  return hyper.clip_value > 0 ? static_cast<T>(hyper.clip_value)
                              : std::numeric_limits<T>::infinity();
}

template <class F, class T>
TUTTI_INLINE void update_loop(T* __restrict w, const T* __restrict g, void* const* states,
                              std::int64_t begin, std::int64_t end, const Hyper& hyper) {
  static_assert(F::states <= max_rule_states);
  const auto c = F::template constants<T>(hyper);
  const T scale = static_cast<T>(hyper.scale);
  const T bound = bound_of<T>(hyper);
  T* s[max_rule_states] = {};
  for (int k = 0; k < F::states; ++k) s[k] = static_cast<T*>(states[k]);
#pragma GCC ivdep
  for (std::int64_t i = begin; i < end; ++i) {
    T state[max_rule_states];
#pragma GCC unroll 4
    for (int k = 0; k < F::states; ++k) state[k] = s[k][i];
    T weight = w[i];
    F::template step<T>(weight, clamped(g[i] * scale, bound), state, c);
    w[i] = weight;
#pragma GCC unroll 4
    for (int k = 0; k < F::states; ++k) s[k][i] = state[k];
  }
}

// Whether the rule scales its step by the norms of a range.
template <class F>
constexpr bool has_direction = requires {
  &F::template direction<float>;
};

// Adds Σ w² and Σ d² to `squares`, d being the rule's direction at states that stay as they are.
// The number of chains is fixed, so that the sums do not depend on the vector width.
template <class F, class T>
TUTTI_INLINE void measure_loop(const T* __restrict w, const T* __restrict g, void* const* states,
                               std::int64_t begin, std::int64_t end, const Hyper& hyper,
                               double* squares) {
  constexpr int chains = 16;
  const auto c = F::template constants<T>(hyper);
  const T scale = static_cast<T>(hyper.scale), bound = bound_of<T>(hyper);
  const T* s[max_rule_states] = {};
  for (int k = 0; k < F::states; ++k) s[k] = static_cast<const T*>(states[k]);
  double weights[chains] = {}, directions[chains] = {};
  const auto add = [&](std::int64_t i, int chain) __attribute__((always_inline)) {
    T state[max_rule_states];
#pragma GCC unroll 4
    for (int k = 0; k < F::states; ++k) state[k] = s[k][i];
    const auto d =
        static_cast<double>(F::template direction<T>(w[i], clamped(g[i] * scale, bound), state, c));
    const auto weight = static_cast<double>(w[i]);
    weights[chain] += weight * weight;
    directions[chain] += d * d;
  };
  std::int64_t i = begin;
  for (; i + chains <= end; i += chains) {
#pragma GCC ivdep
    for (int k = 0; k < chains; ++k) add(i + k, k);
  }
  for (; i < end; ++i) add(i, 0);
  for (int k = 0; k < chains; ++k) squares[0] += weights[k], squares[1] += directions[k];
}

}  // namespace tutti
