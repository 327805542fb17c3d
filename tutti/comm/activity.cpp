// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/activity.h"

#include <fmt/format.h>

namespace tutti {

std::string Activity::text() const {
  if (const char* what = waits_for.load(std::memory_order_relaxed))
    return fmt::format("waits for {}", what);
  if (const char* what = doing.load(std::memory_order_relaxed))
    return fmt::format("is in {}", what);
  return "is elsewhere";
}

}  // namespace tutti
