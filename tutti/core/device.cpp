// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/device.h"

#include "tutti/core/tensor.h"

#include <cmath>
#include <cstring>

namespace tutti {
namespace {

DeviceMemory allocate(std::int64_t bytes) {
  auto buffer = std::make_shared<Buffer>(bytes);
  return {buffer, buffer->data()};
}

void copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool all_finite(const void* data, DType dtype, std::int64_t count) {
  if (!is_float(dtype)) return true;
  return dispatch_float(dtype, [&](auto zero) {
    const auto* x = static_cast<const decltype(zero)*>(data);
    for (std::int64_t i = 0; i < count; ++i)
      if (!std::isfinite(x[i])) return false;
    return true;
  });
}

Device make_host() {
  return {.name = "host",
          .allocate = allocate,
          .allocate_pinned = allocate,
          .copy_in = copy,
          .copy_out = copy,
          .all_finite = all_finite,
          .synchronize = [] {},
          .make_stream = [] { return Stream(); },
          .copy = [](DeviceStream*, void* to, const void* from,
                     std::int64_t bytes) { copy(to, from, bytes); },
          .make_event = [] { return Event(); },
          .record = [](DeviceEvent*, DeviceStream*) {},
          .wait = [](DeviceStream*, DeviceEvent*) {},
          .is_over = [](DeviceEvent*) { return true; },
          .wait_host = [](DeviceEvent*) {}};
}

}  // namespace

std::shared_ptr<const Device> host_device() {
  static const auto host = std::make_shared<const Device>(make_host());
  return host;
}

Streams make_streams(const Device& device) {
  return {device.make_stream(), device.make_stream(), device.make_stream()};
}

}  // namespace tutti
