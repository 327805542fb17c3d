// SPDX-License-Identifier: Apache-2.0
// LAMB (You et al. 2020): Adam's direction with decoupled weight decay, scaled per range to the
// norm of the weights.
#pragma once

#include "tutti/optim/adam.h"

namespace tutti {

struct Lamb {
  static constexpr const char* name = "lamb";
  static constexpr const char* doc =
      "u = m̂/(√v̂ + ε) + λw with Adam's m̂ and v̂, w ← w − η(‖w‖/‖u‖)u per range";
  static constexpr int states = Adam::states;
  static constexpr auto settings = Adam::settings;

  template <class T>
  struct Constants {
    typename Adam::Constants<T> adam;  // with rate 1 / (1 − β₁ᵗ) and no decay
    T decay, rate;
  };

  // ‖w‖/‖u‖; 1 where either norm is zero or was not taken.
  TUTTI_INLINE static double trust_ratio(const Hyper& hyper) {
    if (hyper.squares == nullptr || hyper.squares[0] == 0 || hyper.squares[1] == 0) return 1;
    return std::sqrt(hyper.squares[0] / hyper.squares[1]);
  }

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    Hyper unit = hyper;
    unit.rate = 1;
    Constants<T> c = {Adam::constants<T>(unit), static_cast<T>(hyper.weight_decay),
                      static_cast<T>(hyper.rate * trust_ratio(hyper))};
    c.adam.decay = 0;
    return c;
  }

  template <class T>
  TUTTI_INLINE static T direction(T w, T g, T* s, const Constants<T>& c) {
    // Adam's step from a weight of 0, which is minus its direction.
    T negative = 0;
    Adam::step<T>(negative, g, s, c.adam);
    return c.decay * w - negative;
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    w -= c.rate * direction<T>(w, g, s, c);
  }
};

}  // namespace tutti
