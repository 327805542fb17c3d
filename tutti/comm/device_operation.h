// SPDX-License-Identifier: Apache-2.0
// Messages of device memory, which the host can't reach. When the data is computed, a stream copies
// it to pinned memory; an operation on host memory carries it; a stream copies the result back.
// Only the streams and the message itself wait for the copies.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/device.h"

#include <cstdint>
#include <memory>

namespace tutti {

// Which copies a message needs: data that is only received need not be copied to the host, and data
// that is only sent need not be copied back.
enum class DeviceCopies { both, to_host, to_device };

// An operation on `bytes` bytes of device memory: `travel` carries it out on a copy in host memory.
// The communicator and the device outlive the result.
std::unique_ptr<Operation> on_device(std::unique_ptr<Operation> travel, Communicator& communicator,
                                     const Device& device, const Streams& streams,
                                     std::int64_t bytes, DeviceCopies copies = DeviceCopies::both);

}  // namespace tutti
