// SPDX-License-Identifier: Apache-2.0
// The point-wise function that the fuse pass may hang behind a product or a convolution, and the
// settings by which the product or convolution declares that function.
#pragma once

#include "tutti/core/settings.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tutti::ops {

enum class Activation : std::uint8_t { none, relu, leaky_relu, sigmoid, tanh, gelu };

// `activation`: "none" or the name of a point-wise operator.
Setting activation_setting();
// `slope`: the factor by which leaky_relu multiplies negative values.
Setting activation_slope_setting();

// The function that the setting `activation` names.
Activation activation_of(const Settings& settings);

// The function applied to one element; `slope` is read by leaky_relu only.
template <class T>
T activate(Activation activation, T x, T slope) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : T{0};
    case Activation::leaky_relu:
      return x > 0 ? x : slope * x;
    case Activation::sigmoid:
      return T{1} / (T{1} + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::gelu:
      return x / 2 * (T{1} + std::erf(x / std::numbers::sqrt2_v<T>));
  }
  return x;
}

}  // namespace tutti::ops
