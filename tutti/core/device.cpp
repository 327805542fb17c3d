// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/device.h"

#include "tutti/core/tensor.h"

#include <cmath>
#include <cstring>

namespace tutti {

const Device host_device{
    .name = "host",
    .allocate =
        [](std::int64_t bytes) {
          auto buffer = std::make_shared<Buffer>(bytes);
          return std::shared_ptr<std::byte>(buffer, buffer->data());
        },
    .copy_in =
        [](void* device, const void* host, std::int64_t bytes) {
          if (bytes > 0) std::memcpy(device, host, static_cast<std::size_t>(bytes));
        },
    .copy_out =
        [](void* host, const void* device, std::int64_t bytes) {
          if (bytes > 0) std::memcpy(host, device, static_cast<std::size_t>(bytes));
        },
    .synchronize = [] {},
    .all_finite =
        [](const void* data, DType dtype, std::int64_t count) {
          if (!is_float(dtype)) return true;
          return dispatch_float(dtype, [&](auto zero) {
            const auto* x = static_cast<const decltype(zero)*>(data);
            for (std::int64_t i = 0; i < count; ++i)
              if (!std::isfinite(x[i])) return false;
            return true;
          });
        },
};

}  // namespace tutti
