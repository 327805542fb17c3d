// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/deferred/device.h"

#include "tutti/core/tensor.h"
#include "tutti/kernels/backends.h"
#include "tutti/kernels/deferred/memory.h"
#include "tutti/kernels/deferred/queue.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace tutti::deferred {
namespace {

Queue& queue_of(DeviceStream* stream) {
  check(stream != nullptr, "work for a device is given to a stream");
  return static_cast<Queue&>(*stream);
}

// The streams, pinned memory and first failure of one device.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  Stream make_stream() {
    auto made = std::make_shared<Queue>(failure_);
    const std::lock_guard lock(mutex_);
    std::erase_if(queues_, [](const std::weak_ptr<Queue>& one) { return one.expired(); });
    queues_.push_back(made);
    return made;
  }

  // The memory is freed after everything that was launched before has run.
  DeviceMemory allocate(std::int64_t bytes) {
    auto memory = std::make_shared<Buffer>(std::max<std::int64_t>(bytes, 1));
    return {tagged(memory->data()), [own = shared_from_this(), memory](std::byte*) mutable {
              own->drain();
              memory.reset();
            }};
  }

  DeviceMemory allocate_pinned(std::int64_t bytes) {
    auto memory = std::make_shared<Buffer>(std::max<std::int64_t>(bytes, 1));
    const std::lock_guard lock(mutex_);
    pinned_[memory->data()] = memory->data() + memory->bytes();
    return {memory->data(), [own = shared_from_this(), memory](std::byte* begin) mutable {
              own->drain();
              own->forget_pinned(begin);
              memory.reset();
            }};
  }

  void drain() {
    for (const std::shared_ptr<Queue>& queue : queues()) queue->drain();
  }
  void synchronize() {
    drain();
    failure_->rethrow();
  }

  // The host address at which a copy on a stream reads or writes. Host memory must be pinned.
  template <class T>
  T* copied(T* address, std::int64_t bytes) {
    if (is_tagged(address)) return untagged(address);
    const auto* begin = static_cast<const std::byte*>(address);
    const std::lock_guard lock(mutex_);
    const auto behind = pinned_.upper_bound(begin);
    check(behind != pinned_.begin() && begin + bytes <= std::prev(behind)->second,
          "copies on a stream are between the device and pinned memory");
    return address;
  }

 private:
  std::vector<std::shared_ptr<Queue>> queues() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Queue>> all;
    for (const std::weak_ptr<Queue>& one : queues_)
      if (auto queue = one.lock()) all.push_back(std::move(queue));
    return all;
  }
  void forget_pinned(const std::byte* begin) {
    const std::lock_guard lock(mutex_);
    pinned_.erase(begin);
  }

  std::mutex mutex_;  // guards queues_ and pinned_
  std::vector<std::weak_ptr<Queue>> queues_;
  // The end of each pinned allocation, by its begin.
  std::map<const std::byte*, const std::byte*> pinned_;
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

std::shared_ptr<const Device> make_device(int index) {
  const auto runtime = std::make_shared<Runtime>();
  return std::make_shared<const Device>(Device{
      .name = "deferred",
      .index = index,
      .host = false,
      .allocate = [=](std::int64_t bytes) { return runtime->allocate(bytes); },
      .allocate_pinned = [=](std::int64_t bytes) { return runtime->allocate_pinned(bytes); },
      .copy_in =
          [=](void* device, const void* host, std::int64_t bytes) {
            runtime->synchronize();
            copy_bytes(untagged(device), host, bytes);
          },
      .copy_out =
          [=](void* host, const void* device, std::int64_t bytes) {
            runtime->synchronize();
            copy_bytes(host, untagged(device), bytes);
          },
      .all_finite =
          [=](const void* device, DType dtype, std::int64_t count) {
            runtime->synchronize();
            return host_device()->all_finite(untagged(device), dtype, count);
          },
      .synchronize = [=] { runtime->synchronize(); },
      .make_stream = [=] { return runtime->make_stream(); },
      .copy =
          [=](DeviceStream* stream, void* to, const void* from, std::int64_t bytes) {
            queue_of(stream).push([to = runtime->copied(to, bytes),
                                   from = runtime->copied(from, bytes),
                                   bytes] { copy_bytes(to, from, bytes); });
          },
      .make_event = [] { return std::make_shared<Moment>(); },
      .record = [](DeviceEvent* event,
                   DeviceStream* stream) { static_cast<Moment*>(event)->record(queue_of(stream)); },
      .wait = [](DeviceStream* stream,
                 DeviceEvent* event) { static_cast<Moment*>(event)->wait(queue_of(stream)); },
      .is_over = [](DeviceEvent* event) { return static_cast<Moment*>(event)->is_over(); },
      .wait_host = [](DeviceEvent* event) { static_cast<Moment*>(event)->wait_host(); }});
}

void launch(DeviceStream* stream, std::function<void()> kernel) {
  queue_of(stream).push(std::move(kernel));
}

}  // namespace tutti::deferred
