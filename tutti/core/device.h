// SPDX-License-Identifier: Apache-2.0
// A device: where the flat vectors and the arena of a rank lie, as a struct of functions that a
// back end fills, so that nothing above the kernels assumes host pointers.
#pragma once

#include "tutti/core/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tutti {

struct Device {
  std::string name;
  int index = 0;     // among the devices of its kind in this machine
  bool host = true;  // the host may read and write it directly
  std::shared_ptr<std::byte> (*allocate)(std::int64_t bytes) = nullptr;  // zero-filled
  void (*copy_in)(void* device, const void* host, std::int64_t bytes) = nullptr;
  void (*copy_out)(void* host, const void* device, std::int64_t bytes) = nullptr;
  void (*synchronize)() = nullptr;  // waits for everything launched
  bool (*all_finite)(const void* device, DType dtype, std::int64_t count) = nullptr;
};

// The memory of this process.
extern const Device host_device;

}  // namespace tutti
