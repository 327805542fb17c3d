// SPDX-License-Identifier: Apache-2.0
// How ranks of a node use memory that all of them see (Communicator::window): each rank's window
// has a stage for each of some tags, and rank 0's begins with the directory of those tags. Atomics
// of this size work between processes too.
#pragma once

#include "tutti/comm/shared_memory.h"

#include <cstddef>
#include <optional>

namespace tutti {

inline constexpr std::int64_t stage_bytes = 8 << 10;
inline constexpr int stages = 128;

// A rank's place for the vectors of one tag: written by that rank only.
struct alignas(separate_lines) Stage {
  struct Place {
    std::int64_t vector_bytes;  // of which this may be a piece
    std::uint64_t checksum;     // of the piece, where messages are checked
    alignas(separate_lines) std::byte piece[stage_bytes];
  };
  std::atomic<std::uint64_t> published;  // rounds
  Place places[2];

  Place& place(std::uint64_t round) { return places[round % 2]; }
};

// Begins with zeros.
struct Window {
  std::atomic<std::uint64_t> tags[stages];  // 1 + tag of each stage; 0: free
  Stage all[stages];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline Stage& stage_of(std::byte* window, int entry) {
  return reinterpret_cast<Window*>(window)->all[entry];
}

// The stage of a tag, the same for all ranks, taken by whichever asks first; nothing when all are
// taken by other tags, as they then stay.
inline std::optional<int> entry_of(std::byte* window, int tag) {
  const auto own = static_cast<std::uint64_t>(tag) + 1;
  for (int entry = 0; entry < stages; ++entry) {
    std::uint64_t found = 0;
    if (reinterpret_cast<Window*>(window)->tags[entry].compare_exchange_strong(found, own) ||
        found == own)
      return entry;
  }
  return std::nullopt;
}

}  // namespace tutti
