// SPDX-License-Identifier: Apache-2.0
// What ranks that share an address space need to work on each other's buffers: a board per tag on
// which each rank publishes its buffer, and a way out: a rank that fails closes the memory and is
// then sure that no peer touches its buffers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tutti {

// Two lines, because adjacent lines are fetched in pairs.
inline constexpr std::size_t separate_lines = 128;

// A rank's place on a board: written by that rank only, read by all. Both counters count rounds and
// never go back, so nothing is reset between rounds.
struct alignas(separate_lines) Berth {
  std::atomic<std::uint64_t> published{0};  // rounds whose buffer is here and ready
  std::atomic<std::uint64_t> done{0};       // rounds in which this rank has finished its work
  void* data = nullptr;
  std::int64_t bytes = 0;
};

class SharedMemory {
 public:
  explicit SharedMemory(int ranks);

  // The board of a group, known by its first member, and a tag: one place for each of so many
  // members, made on first use. Takes a lock: look it up once.
  std::vector<Berth>& board(int first, int tag, int members);

  // Memory that all ranks have in common: their n-th calls give the same, which the first of them
  // allocates. It lives as long as one of them keeps it.
  std::shared_ptr<std::byte> common(int rank,
                                    const std::function<std::shared_ptr<std::byte>()>& allocate);

  // Between enter() and leave(), and only there, a rank touches its peers' memory. False when
  // closed: then nothing may be touched.
  bool enter(int rank) noexcept;
  void leave(int rank) noexcept;
  // Bars everyone for good, and returns when no peer of `rank` is inside.
  void close(int rank) noexcept;

 private:
  struct alignas(separate_lines) Presence {
    std::atomic<bool> inside{false};
  };

  std::atomic<bool> closed_{false};
  std::vector<Presence> presence_;
  struct Common {
    std::shared_ptr<std::byte> memory;
    std::size_t takers = 0;
  };
  std::mutex mutex_;                                          // of all that follows
  std::map<std::pair<int, int>, std::vector<Berth>> boards_;  // by first member and tag
  std::map<std::size_t, Common> common_;                      // that some rank has yet to take
  std::vector<std::size_t> taken_;                            // by rank: how many
};

}  // namespace tutti
