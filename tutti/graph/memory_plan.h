// SPDX-License-Identifier: Apache-2.0
// What the memory pass decides beside the places of values.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

struct MemoryPlan {
  std::int64_t arena_bytes = 0;
  std::int64_t live_bytes = 0;  // most bytes alive at one node: a lower bound of arena_bytes
  std::vector<std::int64_t> scratch_offset;  // per node; -1 when it needs none
};

}  // namespace tutti
