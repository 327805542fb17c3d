// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/activation.h"

#include <algorithm>

namespace tutti::ops {
namespace {

const char* const names[] = {"none", "relu", "leaky_relu", "sigmoid", "tanh", "gelu"};

}  // namespace

Setting activation_setting() {
  return {.name = "activation",
          .initial = std::string("none"),
          .doc = "point-wise function of the result, set by the fuse pass",
          .choices = {std::begin(names), std::end(names)}};
}

Setting activation_slope_setting() {
  return {.name = "slope", .initial = 0.01, .doc = "factor of leaky_relu for negative values"};
}

Activation activation_of(const Settings& settings) {
  const auto found = std::find(std::begin(names), std::end(names), settings.text("activation"));
  check(found != std::end(names), "resolve() has checked the choices");
  return static_cast<Activation>(found - std::begin(names));
}

}  // namespace tutti::ops
