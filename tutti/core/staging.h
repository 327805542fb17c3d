// SPDX-License-Identifier: Apache-2.0
// Small copies between the host and a device, through pinned memory, for which the host does not
// wait: what a step is told, and what it has found. Each has a few slots, so that the host may be
// some steps ahead of the device.
#pragma once

#include "tutti/core/device.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

inline constexpr std::size_t staging_slots = 4;

// From the host to the device.
class Upload {
 public:
  // The device outlives it. `bytes` is the length of every copy.
  Upload(const Device& device, Stream stream, std::int64_t bytes);

  // `to` holds these bytes for what is launched on the stream from here on. Waits only while all
  // slots are on their way.
  void put(void* to, const void* bytes);

 private:
  struct Slot {
    DeviceMemory memory;
    Event copied;
  };

  const Device& device_;
  Stream stream_;
  std::int64_t bytes_;
  std::array<Slot, staging_slots> slots_;
  std::size_t next_ = 0;
};

// From the device to the host, in the order of the calls.
class Download {
 public:
  Download(const Device& device, Stream stream, std::int64_t bytes);

  // Copies what stands at `from` when the stream has done all that it was given so far. At most
  // staging_slots copies may be under way.
  void post(const void* from);
  // The oldest copy that was not taken; waits for it. Its bytes stay until post() was called
  // staging_slots times.
  const std::byte* take();
  std::size_t under_way() const { return under_way_; }

 private:
  struct Slot {
    DeviceMemory memory;
    Event copied;
  };

  const Device& device_;
  Stream stream_;
  std::int64_t bytes_;
  std::array<Slot, staging_slots> slots_;
  std::size_t next_ = 0, under_way_ = 0;
};

}  // namespace tutti
