// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/staging.h"

#include "tutti/core/error.h"

#include <cstring>
#include <utility>

namespace tutti {

StagingRing::StagingRing(const Device& device, Stream stream, std::int64_t bytes)
    : device_(device), stream_(std::move(stream)), bytes_(bytes) {
  for (Slot& slot : slots_) slot = {device.allocate_pinned(bytes), device.make_event()};
}

StagingRing::Slot& StagingRing::next() {
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  return slot;
}

StagingRing::Slot& StagingRing::given(std::size_t calls_ago) {
  return slots_[(next_ + slots_.size() - calls_ago) % slots_.size()];
}

void StagingRing::copy(const Slot& slot, void* to, const void* from) {
  device_.copy(stream_.get(), to, from, bytes_);
  device_.record(slot.copied.get(), stream_.get());
}

void Upload::put(void* to, const void* bytes) {
  const StagingRing::Slot& slot = ring_.next();
  ring_.wait(slot);
  std::memcpy(slot.memory.get(), bytes, static_cast<std::size_t>(ring_.bytes()));
  ring_.copy(slot, to, slot.memory.get());
}

void Download::post(const void* from) {
  check(under_way_ < staging_slots, "whoever posts copies takes them");
  const StagingRing::Slot& slot = ring_.next();
  ring_.copy(slot, slot.memory.get(), from);
  ++under_way_;
}

const std::byte* Download::take() {
  check(under_way_ > 0, "what is taken was posted");
  const StagingRing::Slot& slot = ring_.given(under_way_--);
  ring_.wait(slot);
  return slot.memory.get();
}

}  // namespace tutti
