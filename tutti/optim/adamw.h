// SPDX-License-Identifier: Apache-2.0
// AdamW: Adam whose weight decay acts on the weights directly and never enters the moments.
#pragma once

#include "tutti/optim/adam.h"

namespace tutti {

struct AdamW {
  static constexpr const char* name = "adamw";
  static constexpr const char* doc = "Adam with decoupled weight decay: w ← w − ηλw − ηm̂/(√v̂ + ε)";
  static constexpr int states = Adam::states;
  static constexpr auto settings = Adam::settings;

  template <class T>
  struct Constants {
    typename Adam::Constants<T> adam;
    T keep;  // 1 − ηλ
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    Constants<T> c = {Adam::constants<T>(hyper),
                      static_cast<T>(1 - hyper.rate * hyper.weight_decay)};
    c.adam.decay = 0;
    return c;
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    w *= c.keep;
    Adam::step<T>(w, g, s, c.adam);
  }
};

}  // namespace tutti
