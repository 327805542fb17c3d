// SPDX-License-Identifier: Apache-2.0
// Messages of memory that the host can't reach: behind what was computed, the data is copied to
// pinned memory, travels from there by any operation of host memory, and is copied back. Nobody
// waits for the copies but the streams and the message itself.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/device.h"

#include <cstdint>
#include <memory>

namespace tutti {

// Which way the data goes: what is only received is not there before, what is only sent stays.
enum class DeviceCopies { both, to_host, to_device };

// `travel` does on host memory what is to be done on `bytes` bytes of the device. The communicator
// and the device outlive the result.
std::unique_ptr<Operation> on_device(std::unique_ptr<Operation> travel, Communicator& communicator,
                                     const Device& device, const Streams& streams,
                                     std::int64_t bytes, DeviceCopies copies = DeviceCopies::both);

}  // namespace tutti
