// SPDX-License-Identifier: Apache-2.0
// How ranks of a node use memory that all of them see (Communicator::window). Each rank's window
// has stages, one for each of some tags; the directory in rank 0's window says which stage is for
// which tag. Lock-free atomics work between processes too.
#pragma once

#include "tutti/comm/shared_memory.h"

#include <cstddef>
#include <optional>

namespace tutti {

inline constexpr std::int64_t stage_bytes = 8 << 10;
inline constexpr int stages = 128;

// A rank's stage for the vectors of one tag, written by that rank only. Its two places are used in
// turn.
struct alignas(separate_lines) Stage {
  struct Place {
    std::int64_t vector_bytes;  // of the vector of which `piece` is all or a piece
    std::uint64_t checksum;     // of the piece, where messages are checked
    alignas(separate_lines) std::byte piece[stage_bytes];
  };
  std::atomic<std::uint64_t> published;  // rounds so far
  Place places[2];

  Place& place(std::uint64_t round) { return places[round % 2]; }
};

// The window of a rank, all zeros at first.
struct Window {
  // The directory, used in rank 0's window: first member and 1 + tag of each stage; 0: free.
  std::atomic<std::uint64_t> keys[stages];
  Stage all[stages];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline Stage& stage_of(std::byte* window, int entry) {
  return reinterpret_cast<Window*>(window)->all[entry];
}

// The number of the stage for a tag in a group, known by its first member; the same for all
// members. The member that asks first takes a free stage for good; nothing when none is free.
// `window` is rank 0's.
inline std::optional<int> entry_of(std::byte* window, int first, int tag) {
  const std::uint64_t own =
      static_cast<std::uint64_t>(first) << 32 | (static_cast<std::uint64_t>(tag) + 1);
  for (int entry = 0; entry < stages; ++entry) {
    std::uint64_t found = 0;
    if (reinterpret_cast<Window*>(window)->keys[entry].compare_exchange_strong(found, own) ||
        found == own)
      return entry;
  }
  return std::nullopt;
}

}  // namespace tutti
