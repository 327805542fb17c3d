// SPDX-License-Identifier: Apache-2.0
// The StepState in device memory, where kernels read what changes from step to step. It is written
// behind all kernels that read it before. Its place is always the same, unless a step has postponed
// some of its update: then the next step has another place.
#pragma once

#include "tutti/core/staging.h"
#include "tutti/core/step_state.h"

#include <array>

namespace tutti {

class StepStates {
 public:
  // The device outlives it.
  StepStates(const Device& device, const Stream& compute);

  // Writes the state for kernels that are launched from here on, and returns its place in device
  // memory. The state at `kept`, an earlier result, stays as it is.
  const StepState* put(const StepState& state, const StepState* kept);

 private:
  std::array<DeviceMemory, 2> places_;
  Upload upload_;
};

}  // namespace tutti
