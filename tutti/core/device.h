// SPDX-License-Identifier: Apache-2.0
// A device: where the flat vectors and the arena of a rank lie, as a struct of functions that a
// back end fills, so that nothing above the kernels assumes host pointers or finished work.
//
// Work is launched on streams: a stream does what it was given in order, streams wait for each
// other by events, and a launch may return before its work has begun. Memory of the device is
// freed behind everything that was launched.
#pragma once

#include "tutti/core/dtype.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tutti {

// What a back end makes of streams and events. Where all is done at once, there are none: nullptr.
struct DeviceStream {
  virtual ~DeviceStream() = default;
};
struct DeviceEvent {
  virtual ~DeviceEvent() = default;
};
using Stream = std::shared_ptr<DeviceStream>;
using Event = std::shared_ptr<DeviceEvent>;
using DeviceMemory = std::shared_ptr<std::byte>;

struct Device {
  std::string name;  // of its kind: implementations say by it whose memory they work on
  int index = 0;     // among the devices of its kind in this machine
  // The host may read and write its memory, and all work is done when the call returns.
  bool host = true;

  std::function<DeviceMemory(std::int64_t bytes)> allocate;  // zero-filled
  // Host memory that copies on a stream read and write. Freed behind them.
  std::function<DeviceMemory(std::int64_t bytes)> allocate_pinned;

  // Behind everything that was launched, and done when they return; of any host memory.
  std::function<void(void* device, const void* host, std::int64_t bytes)> copy_in;
  std::function<void(void* host, const void* device, std::int64_t bytes)> copy_out;
  std::function<bool(const void* device, DType dtype, std::int64_t count)> all_finite;
  std::function<void()> synchronize;  // waits for everything that was launched

  std::function<Stream()> make_stream;
  // Between the device's own memory and pinned memory, either way, or within the device.
  std::function<void(DeviceStream*, void* to, const void* from, std::int64_t bytes)> copy;

  std::function<Event()> make_event;
  // The event is when the stream has done what it was given so far. It may be recorded again.
  std::function<void(DeviceEvent*, DeviceStream*)> record;
  // What the stream is given from here on waits for the event, as it was recorded last.
  std::function<void(DeviceStream*, DeviceEvent*)> wait;
  std::function<bool(DeviceEvent*)> is_over;  // of an event that was never recorded, too
  std::function<void(DeviceEvent*)> wait_host;
};

// The memory of this process. Its functions do everything at once.
std::shared_ptr<const Device> host_device();

// The streams of a rank: one computes; messages and batches are copied beside it.
struct Streams {
  Stream compute, to_host, to_device;
};
Streams make_streams(const Device& device);

}  // namespace tutti
