// SPDX-License-Identifier: Apache-2.0
// How long a rank computes in a simulation: the predicted seconds, times a factor of the rank,
// times seeded noise.
#pragma once

#include "tutti/core/rng.h"

#include <cmath>
#include <cstdint>
#include <map>

namespace tutti::sim {

struct ComputeLaw {
  std::map<int, double> slow = {};  // factors by rank; 1 where there is none
  double jitter = 0;                // σ of the logarithm of a log-normal factor
  std::uint64_t seed = 0;

  // The seconds of a rank's task. Noise is drawn by the number of the task, counted over the whole
  // simulation.
  double seconds(int rank, std::uint64_t number, double predicted) const {
    const auto found = slow.find(rank);
    double seconds = found == slow.end() ? predicted : predicted * found->second;
    if (jitter > 0)
      seconds *=
          std::exp(jitter * normal(fold(fold(0, seed), static_cast<std::uint64_t>(rank)), number));
    return seconds;
  }
};

}  // namespace tutti::sim
