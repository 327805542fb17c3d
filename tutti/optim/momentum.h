// SPDX-License-Identifier: Apache-2.0
// Momentum (I03): w ← w + μ(w − w_before) − ηg, with the last step kept as v.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>

namespace tutti {

struct Momentum {
  static constexpr const char* name = "momentum";
  static constexpr const char* doc = "v ← μv − ηg, w ← w + v";
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

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    s[0] = c.momentum * s[0] - c.rate * (g + c.decay * w);
    w += s[0];
  }
};

}  // namespace tutti
