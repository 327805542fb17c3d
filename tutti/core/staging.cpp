// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/staging.h"

#include "tutti/core/error.h"

#include <cstring>
#include <utility>

namespace tutti {

Upload::Upload(const Device& device, Stream stream, std::int64_t bytes)
    : device_(device), stream_(std::move(stream)), bytes_(bytes) {
  for (Slot& slot : slots_) slot = {device.allocate_pinned(bytes), device.make_event()};
}

void Upload::put(void* to, const void* bytes) {
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  device_.wait_host(slot.copied.get());
  std::memcpy(slot.memory.get(), bytes, static_cast<std::size_t>(bytes_));
  device_.copy(stream_.get(), to, slot.memory.get(), bytes_);
  device_.record(slot.copied.get(), stream_.get());
}

Download::Download(const Device& device, Stream stream, std::int64_t bytes)
    : device_(device), stream_(std::move(stream)), bytes_(bytes) {
  for (Slot& slot : slots_) slot = {device.allocate_pinned(bytes), device.make_event()};
}

void Download::post(const void* from) {
  check(under_way_ < slots_.size(), "whoever posts copies takes them");
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  device_.copy(stream_.get(), slot.memory.get(), from, bytes_);
  device_.record(slot.copied.get(), stream_.get());
  ++under_way_;
}

const std::byte* Download::take() {
  check(under_way_ > 0, "what is taken was posted");
  Slot& slot = slots_[(next_ + slots_.size() - under_way_) % slots_.size()];
  --under_way_;
  device_.wait_host(slot.copied.get());
  return slot.memory.get();
}

}  // namespace tutti
