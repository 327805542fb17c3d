// SPDX-License-Identifier: Apache-2.0
// What changes from step to step and is read by kernels from memory, so that a compiled program
// need not be rebuilt.
#pragma once

#include <cstdint>

namespace tutti {

struct StepState {
  std::int64_t step = 0;          // updates done before this one
  std::uint64_t key = 0;          // of random operators: folded from the seed and the step
  double rate = 0;                // learning rate of this step
  double loss_scale = 1;          // the gradients hold the true ones times this
  std::int64_t skipped = 0;       // of the steps before this one, those that changed no weights
  std::int64_t first_sample = 0;  // global index within the batch of this rank's first sample
};

}  // namespace tutti
