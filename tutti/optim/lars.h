// SPDX-License-Identifier: Apache-2.0
// LARS (I10; You, Gitman, Ginsburg 2017): momentum whose rate is scaled per range, so that a step
// is a fixed part of the weights whatever the scale of the gradient.
#pragma once

#include "tutti/optim/hyper.h"

#include <array>
#include <cmath>

namespace tutti {

struct Lars {
  static constexpr const char* name = "lars";
  static constexpr const char* doc =
      "λ = c‖w‖/(‖g‖ + β‖w‖) per range, v ← μv + ηλ(g + βw), w ← w − v";
  static constexpr int states = 1;  // v
  static constexpr std::array settings = {
      RuleSetting{"momentum", 0.9, 0, 1, "part μ of the last step that is taken again"},
      RuleSetting{"trust", 0.001, 1e-30, 1e6, "c: the step's part of the weights at rate 1"}};

  template <class T>
  struct Constants {
    T rate, decay, momentum;
  };

  // λ; 1 where the weights, or gradient and weight decay, are zero: zero weights would never change
  // otherwise.
  TUTTI_INLINE static double trust_ratio(const Hyper& hyper) {
    if (hyper.squares == nullptr) return 1;
    const double weights = std::sqrt(hyper.squares[0]), gradient = std::sqrt(hyper.squares[1]);
    const double total = gradient + hyper.weight_decay * weights;
    return weights > 0 && total > 0 ? hyper.rule[1] * weights / total : 1;
  }

  template <class T>
  TUTTI_INLINE static Constants<T> constants(const Hyper& hyper) {
    return {static_cast<T>(hyper.rate * trust_ratio(hyper)), static_cast<T>(hyper.weight_decay),
            static_cast<T>(hyper.rule[0])};
  }

  template <class T>
  TUTTI_INLINE static T direction(T, T g, T*, const Constants<T>&) {
    return g;
  }

  template <class T>
  TUTTI_INLINE static void step(T& w, T g, T* s, const Constants<T>& c) {
    s[0] = c.momentum * s[0] + c.rate * (g + c.decay * w);
    w -= s[0];
  }
};

}  // namespace tutti
