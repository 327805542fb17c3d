// SPDX-License-Identifier: Apache-2.0
// enter() and close() exclude each other without a lock: each writes its own flag and then reads
// the other's, in one total order (seq_cst), so at least one of the two sees the other.
#include "tutti/comm/shared_memory.h"

#include "tutti/comm/backoff.h"

namespace tutti {

SharedMemory::SharedMemory(int ranks)
    : presence_(static_cast<std::size_t>(ranks)), taken_(static_cast<std::size_t>(ranks)) {}

std::vector<Berth>& SharedMemory::board(int first, int tag, int members) {
  const std::lock_guard lock(mutex_);
  return boards_.try_emplace({first, tag}, static_cast<std::size_t>(members)).first->second;
}

std::shared_ptr<std::byte> SharedMemory::common(
    int rank, const std::function<std::shared_ptr<std::byte>()>& allocate) {
  const std::lock_guard lock(mutex_);
  const std::size_t number = taken_[static_cast<std::size_t>(rank)]++;
  Common& one = common_[number];
  if (one.memory == nullptr) one.memory = allocate();
  const std::shared_ptr<std::byte> memory = one.memory;
  if (++one.takers == presence_.size()) common_.erase(number);
  return memory;
}

bool SharedMemory::enter(int rank) noexcept {
  presence_[rank].inside.store(true);
  if (!closed_.load()) return true;
  leave(rank);
  return false;
}

void SharedMemory::leave(int rank) noexcept {
  presence_[rank].inside.store(false, std::memory_order_release);
}

void SharedMemory::close(int rank) noexcept {
  closed_.store(true);
  for (std::size_t peer = 0; peer < presence_.size(); ++peer)
    if (peer != static_cast<std::size_t>(rank))
      for (Backoff backoff; presence_[peer].inside.load();) backoff.pause();
}

}  // namespace tutti
