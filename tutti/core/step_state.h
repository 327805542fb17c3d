// SPDX-License-Identifier: Apache-2.0
// What changes from step to step, or differs between ranks that run the same program, and is read
// by kernels from memory of their device, so that a compiled program need not be rebuilt. Plain
// bytes: it is copied there.
#pragma once

#include <array>
#include <cstdint>

namespace tutti {

struct StepState {
  std::int64_t step = 0;     // updates done before this one
  std::uint64_t key = 0;     // of random operators: folded from the seed and the step
  double rate = 0;           // learning rate of this step
  double loss_scale = 1;     // the gradients hold the true ones times this
  std::int64_t skipped = 0;  // of the steps before this one, those that changed no weights
  // Of each dimension that ranks split: the global index at which this rank's part begins.
  enum Dimension { samples, most_dimensions = 8 };
  std::array<std::int64_t, most_dimensions> origins = {};
};

}  // namespace tutti
