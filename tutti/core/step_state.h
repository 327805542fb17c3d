// SPDX-License-Identifier: Apache-2.0
// Numbers that change from step to step, or differ between ranks that run the same program. Kernels
// read them from memory of their device, so that a compiled program serves all steps. The struct is
// plain bytes, since it is copied to the device.
#pragma once

#include <array>
#include <cstdint>

namespace tutti {

struct StepState {
  std::int64_t step = 0;     // steps before this one, skipped ones included
  std::uint64_t key = 0;     // key of random operators, folded from the seed and the step
  double rate = 0;           // learning rate of this step
  double loss_scale = 1;     // the gradient vector holds the true gradients times this
  std::int64_t skipped = 0;  // steps before this one that changed no weights
  // For each dimension that ranks split: the global index at which the part that this rank computes
  // begins.
  enum Dimension { samples, most_dimensions = 8 };
  std::array<std::int64_t, most_dimensions> origins = {};
};

}  // namespace tutti
