// SPDX-License-Identifier: Apache-2.0
// Median and quartiles of a measurement, since times on a shared machine have outliers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace tutti::bench {

struct Spread {
  double median = 0, low = 0, high = 0;  // low, high: the quartiles
  double min = 0;
};

inline Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    const double position = part * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], position - static_cast<double>(below));
  };
  return {at(0.5), at(0.25), at(0.75), samples.front()};
}

inline double now_ms() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tutti::bench
