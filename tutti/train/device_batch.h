// SPDX-License-Identifier: Apache-2.0
// Brings a batch to where kernels can read it. On a host device the batch stays where it is.
// Otherwise it is copied to the device through pinned memory, while kernels compute; its host
// memory is free when put() returns.
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
  // The device must outlive this object.
  DeviceBatch(const Device& device, Streams streams);

  // Sets the inputs of `bases`, for all programs that are launched until the next call.
  void put(const Graph& graph, const PerField<const void*>& fields, Bases& bases);

 private:
  // One field on the device, and the pinned memory that it is copied through.
  struct Copy {
    DeviceMemory memory, pinned;
    std::int64_t bytes = 0;
  };
  struct Slot {
    std::vector<Copy> fields;
    Event copied, read;  // the batch was copied out of pinned memory; was read by its program
  };

  const Device& device_;
  Streams streams_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

}  // namespace tutti
