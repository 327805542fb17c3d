// SPDX-License-Identifier: Apache-2.0
// RMSProp (I06): A is a running mean of squared gradients, not corrected for its start at 0.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>
#include <cmath>

namespace tutti {

struct RmsProp {
  static constexpr const char* name = "rmsprop";
  static constexpr const char* doc = "A ← βA + (1−β)g², w ← w − ηg/(√A + ε)";
  static constexpr int states = 1;  // A
  static constexpr std::array settings = {
      RuleSetting{"beta", 0.9, 0, 0.999999, "decay β of the mean of squares"},
      RuleSetting{"epsilon", 1e-8, 1e-30, 1, "ε added to the root"}};

  template <class T>
  struct Constants {
    T rate, decay, beta, gain, epsilon;
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    return {static_cast<T>(hyper.rate), static_cast<T>(hyper.weight_decay),
            static_cast<T>(hyper.rule[0]), static_cast<T>(1 - hyper.rule[0]),
            static_cast<T>(hyper.rule[1])};
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    g += c.decay * w;
    s[0] = c.beta * s[0] + c.gain * g * g;
    w -= c.rate * g / (std::sqrt(s[0]) + c.epsilon);
  }
};

}  // namespace tutti
