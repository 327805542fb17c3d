// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/threads/hub.h"

#include "tutti/comm/communicator.h"

namespace tutti {

Channel& Hub::channel(int from, int to, int tag) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = channels_.try_emplace({from, to, tag});
  Channel& channel = found->second;
  if (is_new) channel.from = from, channel.to = to, channel.tag = tag;
  return channel;
}

Window& Hub::window(int rank) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Window>& window = windows_[rank];
  if (!window) window = std::make_unique<Window>();
  return *window;
}

std::uint64_t Hub::arrive() {
  const std::uint64_t barrier = barriers_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    arrived_.store(0, std::memory_order_relaxed);
    barriers_.store(barrier + 1, std::memory_order_release);
  }
  return barrier;
}

void Hub::abort(int rank, const std::string& why) {
  const std::lock_guard lock(abort_mutex_);
  if (aborted_.load(std::memory_order_relaxed)) return;
  failed_ = rank % ranks_;
  why_ = rank < ranks_ ? why : "the store beside it: " + why;
  aborted_.store(true, std::memory_order_release);
}

void Hub::check_aborted() const {
  // failed_ and why_ are not written again once the flag is set.
  if (aborted_.load(std::memory_order_acquire)) throw Aborted(failed_, why_);
}

}  // namespace tutti
