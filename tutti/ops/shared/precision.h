// SPDX-License-Identifier: Apache-2.0
// What an operator that multiplies matrices multiplies: floats, or bf16 with sums in float. Outside
// it values are floats; a back end may store those that it reads and writes in 16 bits.
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
