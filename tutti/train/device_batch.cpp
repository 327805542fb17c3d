// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/device_batch.h"

#include <cstring>

namespace tutti {

DeviceBatch::DeviceBatch(const Device& device, Streams streams)
    : device_(device), streams_(std::move(streams)) {
  for (Slot& slot : slots_) slot.copied = device.make_event(), slot.read = device.make_event();
}

void DeviceBatch::put(const Graph& graph, const PerField<const void*>& fields, Bases& bases) {
  check(fields.size() == graph.batch.size(), "a batch has the fields of the network");
  const auto input = [&](std::size_t k) -> std::byte*& {
    return bases[Base::inputs + static_cast<int>(k)];
  };
  if (device_.host) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      input(k) = static_cast<std::byte*>(const_cast<void*>(fields[k]));
    return;
  }
  Slot& own = slots_[next_];
  next_ = 1 - next_;
  // All that reads the other slot has been launched by now.
  device_.record(slots_[next_].read.get(), streams_.compute.get());
  DeviceStream* const stream = streams_.to_device.get();
  device_.wait_host(own.copied.get());
  device_.wait(stream, own.read.get());
  own.fields.resize(fields.size());
  for (std::size_t k = 0; k < fields.size(); ++k) {
    Copy& copy = own.fields[k];
    const std::int64_t bytes = graph.value(graph.batch[k]).bytes();
    if (copy.bytes < bytes) copy = {device_.allocate(bytes), device_.allocate_pinned(bytes), bytes};
    std::memcpy(copy.pinned.get(), fields[k], static_cast<std::size_t>(bytes));
    device_.copy(stream, copy.memory.get(), copy.pinned.get(), bytes);
    input(k) = copy.memory.get();
  }
  device_.record(own.copied.get(), stream);
  device_.wait(streams_.compute.get(), own.copied.get());
}

}  // namespace tutti
