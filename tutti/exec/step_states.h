// SPDX-License-Identifier: Apache-2.0
// Where kernels read what changes from step to step: in device memory, which is written behind
// everything that read it before. It is always the same place, unless a run has postponed some of
// its update to the next: then that one has another.
#pragma once

#include "tutti/core/staging.h"
#include "tutti/core/step_state.h"

#include <array>

namespace tutti {

class StepStates {
 public:
  // The device outlives it.
  StepStates(const Device& device, const Stream& compute);

  // For kernels that are launched from here on, in device memory. What `kept` points to, a result
  // of this, stays as it is.
  const StepState* put(const StepState& state, const StepState* kept);

 private:
  std::array<DeviceMemory, 2> places_;
  Upload upload_;
};

}  // namespace tutti
