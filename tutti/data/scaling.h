// SPDX-License-Identifier: Apache-2.0
// How pixels become inputs: brought to [0, 1], then (value − mean) / std. Computed in double and
// rounded to float once, so that training in float and in double reads the same numbers.
#pragma once

#include "tutti/core/settings.h"

#include <vector>

namespace tutti::data {

struct Scaling {
  double mean = 0;
  double std = 1;

  float operator()(double value) const { return static_cast<float>((value - mean) / std); }
};

// The settings 'mean' and 'std' that every data set of images has.
inline std::vector<Setting> scaling_settings(double mean, double std) {
  return {{.name = "mean", .initial = mean, .doc = "subtracted from pixels in [0, 1]"},
          {.name = "std", .initial = std, .doc = "divides them afterwards", .min = 1e-6}};
}

inline Scaling scaling_of(const Settings& settings) {
  return {.mean = settings.real("mean"), .std = settings.real("std")};
}

}  // namespace tutti::data
