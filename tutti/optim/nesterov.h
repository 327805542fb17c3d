// SPDX-License-Identifier: Apache-2.0
// Nesterov's accelerated gradient (I04, erratum 1): v ← μv − η∇ℓ(w + μv), w ← w + v. The weights
// are stored as the look-ahead point φ = w + μv, where the gradient is taken, so that one vector
// serves forward, backward and update; w = φ − μv gives the other form back.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>

namespace tutti {

struct Nesterov {
  static constexpr const char* name = "nesterov";
  static constexpr const char* doc = "v ← μv − η∇ℓ(w + μv), w ← w + v; stores w + μv";
  static constexpr int states = 1;  // v
  static constexpr std::array settings = {
      RuleSetting{"momentum", 0.9, 0, 1, "part μ of the last step that is taken again"}};

  template <class T>
  struct Constants {
    T rate, decay, momentum;
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    return {static_cast<T>(hyper.rate), static_cast<T>(hyper.weight_decay),
            static_cast<T>(hyper.rule[0])};
  }

  // φ' = w' + μv' = (φ − μv) + v' + μv', and v' = μv − d: so φ' = φ + μv' − d.
  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    const T descent = c.rate * (g + c.decay * w);
    s[0] = c.momentum * s[0] - descent;
    w += c.momentum * s[0] - descent;
  }
};

}  // namespace tutti
