// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace tutti {

// Seconds of a clock that never goes back; only the difference of two readings means something.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tutti
