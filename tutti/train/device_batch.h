// SPDX-License-Identifier: Apache-2.0
// The batch of a run where kernels can read it. On a host device that is where it is; else it is
// copied to the device through pinned memory, beside what is computed: its host memory is free when
// put() returns.
#pragma once

#include "tutti/core/device.h"
#include "tutti/core/field.h"
#include "tutti/exec/vectors.h"
#include "tutti/graph/graph.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tutti {

class DeviceBatch {
 public:
  // The device outlives it.
  DeviceBatch(const Device& device, Streams streams);

  // Sets the inputs of `bases`, for what is launched until the next call.
  void put(const Graph& graph, const PerField<const void*>& fields, Bases& bases);

 private:
  struct Copy {
    DeviceMemory memory, pinned;
    std::int64_t bytes = 0;
  };
  struct Slot {
    std::vector<Copy> fields;
    Event copied, read;  // out of pinned memory; by the run that it was for
  };

  const Device& device_;
  Streams streams_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

}  // namespace tutti
