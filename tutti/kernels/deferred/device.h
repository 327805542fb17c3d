// SPDX-License-Identifier: Apache-2.0
// The device of the deferred back end, made for tests: host memory under addresses that fault when
// the host uses them (memory.h), and streams that do their work on another thread, later (queue.h).
// Whatever assumes host memory or finished work fails here, without a GPU.
#pragma once

#include "tutti/core/device.h"

#include <functional>

namespace tutti::deferred {

std::shared_ptr<const Device> make_device(int index);

// Puts `kernel` at the end of the stream, which runs it later.
void launch(DeviceStream* stream, std::function<void()> kernel);

}  // namespace tutti::deferred
