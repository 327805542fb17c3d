// SPDX-License-Identifier: Apache-2.0
// Adam (I07, erratum 2): raw moments m and v are kept; their bias is corrected where they are used,
// by two constants per call.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>
#include <cmath>

namespace tutti {

struct Adam {
  static constexpr const char* name = "adam";
  static constexpr const char* doc = "m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − ηm̂/(√v̂ + ε)";
  static constexpr int states = 2;  // m, v
  // Each β is below 1, so that the corrections are finite; ε is above 0, so that a zero gradient
  // moves nothing.
  static constexpr std::array settings = {
      RuleSetting{"beta1", 0.9, 0, 0.999999, "decay β₁ of the mean of gradients"},
      RuleSetting{"beta2", 0.999, 0, 0.999999, "decay β₂ of the mean of squares"},
      RuleSetting{"epsilon", 1e-8, 1e-30, 1, "ε added to the root"}};

  template <class T>
  struct Constants {
    T decay, beta1, beta2, gain1, gain2, epsilon;
    T rate;  // η / (1 − β₁ᵗ)
    T root;  // 1 / √(1 − β₂ᵗ)
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    const double beta1 = hyper.rule[0], beta2 = hyper.rule[1];
    const double t = static_cast<double>(hyper.step);
    return {.decay = static_cast<T>(hyper.weight_decay),
            .beta1 = static_cast<T>(beta1),
            .beta2 = static_cast<T>(beta2),
            .gain1 = static_cast<T>(1 - beta1),
            .gain2 = static_cast<T>(1 - beta2),
            .epsilon = static_cast<T>(hyper.rule[2]),
            .rate = static_cast<T>(hyper.rate / (1 - std::pow(beta1, t))),
            .root = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2, t)))};
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    g += c.decay * w;
    s[0] = c.beta1 * s[0] + c.gain1 * g;
    s[1] = c.beta2 * s[1] + c.gain2 * g * g;
    w -= c.rate * s[0] / (std::sqrt(s[1]) * c.root + c.epsilon);
  }
};

}  // namespace tutti
