// SPDX-License-Identifier: Apache-2.0
// Small copies between the host and a device, through pinned memory, for which the host does not
// wait: the state of a step on its way to the device, the results on their way back. Both classes
// have a few slots, so that the host may be some steps ahead of the device.
#pragma once

#include "tutti/core/device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti {

inline constexpr std::size_t staging_slots = 4;

// Pinned memory for copies of one length on one stream, used in turn.
class StagingRing {
 public:
  struct Slot {
    DeviceMemory memory;
    Event copied;  // the last copy from or to this memory is over
  };

  // `device` must outlive this object. `bytes` is the length of every copy.
  StagingRing(const Device& device, Stream stream, std::int64_t bytes);

  Slot& next();
  // The slot that next() gave so many calls ago; 1: the last one.
  Slot& given(std::size_t calls_ago);
  // Launches a copy from or to the memory of a slot.
  void copy(const Slot& slot, void* to, const void* from);
  void wait(const Slot& slot) const { device_.wait_host(slot.copied.get()); }
  std::int64_t bytes() const { return bytes_; }

 private:
  const Device& device_;
  Stream stream_;
  std::int64_t bytes_;
  std::array<Slot, staging_slots> slots_;
  std::size_t next_ = 0;
};

// Copies from the host to the device.
class Upload {
 public:
  Upload(const Device& device, Stream stream, std::int64_t bytes)
      : ring_(device, std::move(stream), bytes) {}

  // Work launched on the stream from here on finds these bytes at `to`. Waits only while the copies
  // of all slots are under way.
  void put(void* to, const void* bytes);

 private:
  StagingRing ring_;
};

// Copies from the device to the host, which are taken in the order in which they were posted.
class Download {
 public:
  Download(const Device& device, Stream stream, std::int64_t bytes)
      : ring_(device, std::move(stream), bytes) {}

  // Copies the bytes that are at `from` once the stream has done everything launched on it so far.
  // At most staging_slots copies may be posted and not taken.
  void post(const void* from);
  // Waits for the oldest copy that was not taken, and returns its bytes. They stay until the
  // staging_slots-th post() after the one that began the copy.
  const std::byte* take();
  std::size_t under_way() const { return under_way_; }  // copies posted and not taken

 private:
  StagingRing ring_;
  std::size_t under_way_ = 0;
};

}  // namespace tutti
