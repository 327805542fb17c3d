// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/prefetch.h"

#include "tutti/core/cores.h"

#include <algorithm>
#include <cstring>

namespace tutti::data {

Prefetch::Prefetch(const Dataset& dataset, const Sampler& sampler, const PrefetchOptions& options)
    : dataset_(dataset), sampler_(sampler), options_(options) {
  if (options.depth < 1)
    throw Error("the depth of prefetch is {}, expected at least 1", options.depth);
  check(sampler.sampling().count == dataset.count, "the sampler draws from this data set");
  const std::int64_t largest = std::min(sampler.sampling().batch, dataset.count);
  capacity_ = (largest + options.ranks - 1) / options.ranks;
  indices_.resize(static_cast<std::size_t>(capacity_));
  slots_.resize(static_cast<std::size_t>(options.depth));
  for (Slot& slot : slots_) allocate(slot);
  reader_ = std::jthread([this](std::stop_token stop) { read_ahead(std::move(stop)); });
}

void Prefetch::allocate(Slot& slot) const {
  const std::int64_t scalar_bytes = bytes_of(options_.dtype);
  slot.x = Buffer(capacity_ * elements(dataset_.sample_shape) * scalar_bytes);
  slot.weights = Buffer(capacity_ * scalar_bytes);
  slot.batch.samples = {.dtype = options_.dtype, .x = slot.x.data()};
  slot.batch.weights = slot.weights.data();
  if (dataset_.classes > 0) {
    slot.labels = Buffer(capacity_ * bytes_of(DType::i32));
    slot.batch.samples.labels = reinterpret_cast<std::int32_t*>(slot.labels.data());
  } else {
    slot.targets = Buffer(capacity_ * elements(dataset_.target_shape) * scalar_bytes);
    slot.batch.samples.targets = slot.targets.data();
  }
}

void Prefetch::fill(Slot& slot, std::int64_t step) {
  Batch& batch = slot.batch;
  batch.step = step;
  batch.total = sampler_.batch(step);
  batch.share = share_of(batch.total, options_.rank, options_.ranks);
  const std::int64_t count = batch.count();
  const std::span<std::int64_t> indices(indices_.data(), static_cast<std::size_t>(count));
  sampler_.indices(step, batch.share, indices);
  dataset_.read(indices, batch.samples);

  const auto clear_rows = [&](const Buffer& buffer) {
    const std::int64_t row_bytes = buffer.bytes() / capacity_;
    std::memset(buffer.data() + count * row_bytes, 0, (capacity_ - count) * row_bytes);
  };
  if (count < capacity_) {
    clear_rows(slot.x);
    clear_rows(dataset_.classes > 0 ? slot.labels : slot.targets);
  }
  dispatch_float(options_.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* weights = static_cast<T*>(batch.weights);
    // The loss is a mean over all ranks' samples.
    const T share = T(1) / static_cast<T>(batch.total);
    for (std::int64_t i = 0; i < capacity_; ++i) weights[i] = i < count ? share : 0;
  });
}

void Prefetch::read_ahead(std::stop_token stop) {
  run_on_any_core();  // not on that of the rank that started it
  const auto depth = static_cast<std::int64_t>(slots_.size());
  for (std::int64_t step = options_.first_step; step < options_.end_step; ++step) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return filled_ - released_ < depth; })) return;
    const std::int64_t number = filled_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      fill(slot(number), step);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    if (failure == nullptr) ++filled_;
    changed_.notify_all();
    if (failure != nullptr || stop.stop_requested()) return;
  }
}

const Batch& Prefetch::next() {
  std::unique_lock lock(mutex_);
  check(taken_ - released_ < static_cast<std::int64_t>(slots_.size()),
        "a batch is released before all slots are held");
  check(taken_ < options_.end_step - options_.first_step, "there is a batch left to take");
  changed_.wait(lock, [&] { return filled_ > taken_ || failure_ != nullptr; });
  if (filled_ == taken_) std::rethrow_exception(failure_);
  return slot(taken_++).batch;
}

void Prefetch::release() {
  {
    const std::lock_guard lock(mutex_);
    check(released_ < taken_, "only a batch that was handed out is released");
    ++released_;
  }
  changed_.notify_all();
}

}  // namespace tutti::data
