// SPDX-License-Identifier: Apache-2.0
// The messages of one tag from one rank to another. Sends and receives are numbered by their
// ranks; message n meets receive n in slot n mod depth, and waits with its sender while the slot is
// still occupied. One thread sends, one receives; there is no lock.
#pragma once

#include "tutti/comm/shared_memory.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace tutti {

struct Channel {
  static constexpr std::uint64_t depth = 8;

  struct alignas(separate_lines) Slot {
    std::atomic<std::uint64_t> posted{0};  // 1 + number of the last message put here
    const void* data = nullptr;            // in the sender's memory
    std::int64_t bytes = 0;
    // 1 + number of the last message copied from here
    alignas(separate_lines) std::atomic<std::uint64_t> taken{0};
  };

  int from = 0, to = 0, tag = 0;
  std::array<Slot, depth> slots;

  Slot& slot(std::uint64_t number) { return slots[number % depth]; }

  // Sender: offers message `number`; false while the message before it in the slot is not taken.
  bool post(std::uint64_t number, const void* data, std::int64_t bytes) {
    Slot& at = slot(number);
    const std::uint64_t before = number < depth ? 0 : number - depth + 1;
    if (at.taken.load(std::memory_order_acquire) != before) return false;
    at.data = data;
    at.bytes = bytes;
    at.posted.store(number + 1, std::memory_order_release);
    return true;
  }
  bool posted(std::uint64_t number) {
    return slot(number).posted.load(std::memory_order_acquire) == number + 1;
  }
  // Receiver: the sender may have its memory back.
  void take(std::uint64_t number) {
    slot(number).taken.store(number + 1, std::memory_order_release);
  }
  bool taken(std::uint64_t number) {
    return slot(number).taken.load(std::memory_order_acquire) >= number + 1;
  }
};

}  // namespace tutti
