// SPDX-License-Identifier: Apache-2.0
// The setting `precision` of operators that multiply: factors are floats, or bf16 with sums in
// float. Inputs and outputs have the type float in both cases; a back end may store them in 16
// bits.
#pragma once

#include "tutti/core/settings.h"

namespace tutti::ops {

inline Setting precision_setting() {
  return {.name = "precision",
          .initial = std::string("auto"),
          .doc = "what is multiplied; auto: kernels.precision",
          .choices = {"auto", "f32", "bf16"}};
}

}  // namespace tutti::ops
