// SPDX-License-Identifier: Apache-2.0
// A device: where the flat vectors and the arena of a rank lie, as a struct of functions that a
// back end fills, so that nothing above the kernels assumes host pointers or finished work.
//
// Work is launched on streams. A stream does its work in the order of the launches, streams wait
// for each other by events, and a launch may return before its work has begun. Memory of the device
// is freed only after everything that was launched before is done.
#pragma once

#include "tutti/core/dtype.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tutti {

// Base classes of a back end's streams and events. A device that does its work at once has neither:
// its Stream and Event are null.
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
  std::string name;  // of its kind, as in Implementation::device
  int index = 0;     // among the devices of its kind in this machine
  // True: the host may read and write the device's memory, and work is done when its call returns.
  bool host = true;

  std::function<DeviceMemory(std::int64_t bytes)> allocate;  // zero-filled
  // Host memory that copies on a stream may read and write; freed only after these copies.
  std::function<DeviceMemory(std::int64_t bytes)> allocate_pinned;

  // These three wait for everything that was launched so far, and are done when they return. `host`
  // may be any host memory.
  std::function<void(void* device, const void* host, std::int64_t bytes)> copy_in;
  std::function<void(void* host, const void* device, std::int64_t bytes)> copy_out;
  std::function<bool(const void* device, DType dtype, std::int64_t count)> all_finite;
  std::function<void()> synchronize;  // waits for everything that was launched

  std::function<Stream()> make_stream;
  // Copies on a stream, between the device's memory and pinned memory, either way, or within the
  // device.
  std::function<void(DeviceStream*, void* to, const void* from, std::int64_t bytes)> copy;

  std::function<Event()> make_event;
  // The event is over when the stream has done everything that was launched on it so far. An event
  // may be recorded again.
  std::function<void(DeviceEvent*, DeviceStream*)> record;
  // Work launched on the stream from here on waits for the last recording of the event.
  std::function<void(DeviceStream*, DeviceEvent*)> wait;
  std::function<bool(DeviceEvent*)> is_over;    // true also of an event that was never recorded
  std::function<void(DeviceEvent*)> wait_host;  // the host waits for the event
};

// The device that is this process: its memory is host memory, and all its functions are done when
// they return.
std::shared_ptr<const Device> host_device();

// The streams of a rank: one computes; the others copy messages and batches meanwhile.
struct Streams {
  Stream compute, to_host, to_device;
};
Streams make_streams(const Device& device);

}  // namespace tutti
