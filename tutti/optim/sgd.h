// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent (I01): w ← w − ηg.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>

namespace tutti {

struct Sgd {
  static constexpr const char* name = "sgd";
  static constexpr const char* doc = "w ← w − ηg";
  static constexpr int states = 0;
  static constexpr bool still = true;
  static constexpr std::array<RuleSetting, 0> settings = {};

  template <class T>
  struct Constants {
    T rate, decay;
  };

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    return {static_cast<T>(hyper.rate), static_cast<T>(hyper.weight_decay)};
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T*, const Constants<T>& c) {
    w -= c.rate * (g + c.decay * w);
  }
};

}  // namespace tutti
