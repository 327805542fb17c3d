// SPDX-License-Identifier: Apache-2.0
// What ranks that share an address space need to work on each other's buffers. On a board, one for
// each tag, ranks publish their buffers. A rank that fails closes the memory, and is then sure that
// no peer touches its buffers.
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

// Bytes that keep writers apart: two cache lines, because adjacent lines are fetched in pairs.
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

  // The board of a group, known by its first member, for a tag: one berth for each member, made on
  // first use. Takes a lock, so look it up once.
  std::vector<Berth>& board(int first, int tag, int members);

  // Memory that all ranks have in common: the n-th calls of all ranks give the same memory, which
  // the rank that calls first allocates. It lives as long as one rank keeps it.
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
  std::mutex mutex_;                                          // guards all that follows
  std::map<std::pair<int, int>, std::vector<Berth>> boards_;  // by first member and tag
  std::map<std::size_t, Common> common_;  // by call: memory that some rank has yet to take
  std::vector<std::size_t> taken_;        // by rank: calls of common()
};

}  // namespace tutti
