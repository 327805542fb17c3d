// SPDX-License-Identifier: Apache-2.0
// AdaGrad (I05, erratum 3): A sums the squares of all gradients so far; ε stands outside the root.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>
#include <cmath>

namespace tutti {

struct AdaGrad {
  static constexpr const char* name = "adagrad";
  static constexpr const char* doc = "A ← A + g², w ← w − ηg/(√A + ε)";
  static constexpr int states = 1;  // A
  static constexpr bool still = true;
  static constexpr std::array settings = {
      RuleSetting{"epsilon", 1e-10, 1e-30, 1, "ε added to the root"}};

  template <class T>
  struct Constants {
    T rate, decay, epsilon;
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    return {static_cast<T>(hyper.rate), static_cast<T>(hyper.weight_decay),
            static_cast<T>(hyper.rule[0])};
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    g += c.decay * w;
    s[0] += g * g;
    w -= c.rate * g / (std::sqrt(s[0]) + c.epsilon);
  }
};

}  // namespace tutti
