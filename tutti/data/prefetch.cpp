// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/prefetch.h"

#include "tutti/core/cores.h"
#include "tutti/core/memory.h"
#include "tutti/data/buckets.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tutti::data {
namespace {

// Bytes of `slots` batches of `rows` samples, or the largest number where that would overflow.
std::int64_t bytes_ahead(const Fields& fields, std::int64_t slots, std::int64_t rows) {
  std::int64_t bytes = 0;
  for (const Field& field : fields) {
    if (!is_countable({slots, rows, field.capacity, elements(field.shape)}))
      return std::numeric_limits<std::int64_t>::max();
    bytes += slots * rows * bytes_of(field);
  }
  return bytes;
}

}  // namespace

Prefetch::Prefetch(const Dataset& dataset, const Sampler& sampler, const PrefetchOptions& options)
    : dataset_(dataset),
      sampler_(sampler),
      options_(options),
      fields_(batch_fields(dataset.fields, options.dtype)) {
  if (options.depth < 1)
    throw Error("the depth of prefetch is {}, expected at least 1", options.depth);
  check(options.threads >= 1, "some thread reads");
  check(options.micro_batches >= 1, "a batch has some micro-batch");
  check(sampler.sampling().count == dataset.count, "the sampler draws from this data set");
  const auto largest_of = [](std::int64_t count, int parts) { return (count + parts - 1) / parts; };
  capacity_ =
      largest_of(largest_of(sampler.largest_batch(), options.micro_batches), options.shares);
  require_memory(bytes_ahead(fields_, options.depth, capacity_),
                 "batches that are read ahead (train.prefetch of train.batch samples)");
  slots_.resize(static_cast<std::size_t>(options.depth));
  for (Slot& slot : slots_) allocate(slot);
  for (int i = 0; i < options.threads; ++i)
    readers_.emplace_back([this, indices = std::vector<std::int64_t>(capacity_)](
                              const std::stop_token& stop) mutable { read_ahead(stop, indices); });
}

void Prefetch::allocate(Slot& slot) const {
  slot.batch.fields = fields_;
  for (const Field& field : fields_)
    slot.batch.pointers.add(slot.buffers.emplace_back(capacity_ * bytes_of(field)).data());
  if (!dataset_.buckets.empty())
    slot.samples.resize(static_cast<std::size_t>(sampler_.largest_batch()));
}

// Also clears the rows past the end of the share.
void Prefetch::begin(Slot& slot, std::int64_t number) const {
  Batch& batch = slot.batch;
  batch.step = options_.first_step + number / options_.micro_batches;
  batch.micro_batch = static_cast<int>(number % options_.micro_batches);
  batch.micro_batches = options_.micro_batches;
  batch.total = sampler_.batch(batch.step);
  const Share all = share_of(batch.total, batch.micro_batch, batch.micro_batches);
  const Share own = share_of(all.count(), options_.share, options_.shares);
  batch.micro_batch_total = all.count();
  batch.share = {all.first + own.first, all.first + own.last};
  batch.units = batch.total;
  if (!dataset_.buckets.empty()) begin_tokens(slot);
  const std::int64_t count = batch.count();
  for (std::size_t i = 0; i < fields_.size() && count < capacity_; ++i) {
    const std::int64_t row_bytes = bytes_of(batch.fields[i]);
    std::memset(slot.buffers[i].data() + count * row_bytes, 0, (capacity_ - count) * row_bytes);
  }
  weigh(slot);
}

void Prefetch::begin_tokens(Slot& slot) const {
  Batch& batch = slot.batch;
  const std::span samples = std::span(slot.samples).first(static_cast<std::size_t>(batch.total));
  sampler_.indices(batch.step, {0, batch.total}, samples);
  const BatchTokens tokens = tokens_of(dataset_, samples);
  batch.bucket = tokens.bucket;
  if (answers_in(fields_).unit == Field::token) batch.units = tokens.count;
  for (Field& field : batch.fields)
    if (field.unit == Field::token) field.capacity = tokens.bucket;
}

void Prefetch::weigh(Slot& slot) const {
  Batch& batch = slot.batch;
  const bool per_token = answers_in(fields_).unit == Field::token;
  const auto tokens_at = [&](std::int64_t position) {
    return dataset_.tokens(slot.samples[static_cast<std::size_t>(position)]);
  };
  batch.own_units = batch.count();
  if (per_token) {
    batch.own_units = 0;
    for (std::int64_t i = batch.share.first; i < batch.share.last; ++i)
      batch.own_units += tokens_at(i);
  }
  const double weight = options_.weight ? options_.weight(batch.own_units, batch.units) : 1;
  dispatch_float(options_.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* weights = batch.as<T>("weights");
    const T one = static_cast<T>(weight);
    if (!per_token) {
      std::fill_n(weights, batch.count(), one);
      return;
    }
    for (std::int64_t i = batch.share.first; i < batch.share.last; ++i) {
      std::fill_n(std::fill_n(weights, tokens_at(i), one), batch.bucket - tokens_at(i), T{0});
      weights += batch.bucket;
    }
  });
}

Samples Prefetch::rows_from(const Batch& batch, std::int64_t first) const {
  Samples samples{.dtype = options_.dtype, .tokens = batch.bucket};
  for (std::size_t i = 0; i < dataset_.fields.size(); ++i)
    samples.fields.add(static_cast<std::byte*>(batch.pointers[i]) +
                       first * bytes_of(batch.fields[i]));
  return samples;
}

void Prefetch::augment_inputs(const Batch& batch, std::span<const std::int64_t> indices,
                              void* x) const {
  const Field& input = field_named(fields_, "input");
  const std::uint64_t key = augmentation_key(sampler_.sampling().seed, sampler_.epoch(batch.step));
  auto* sample = static_cast<std::byte*>(x);
  for (const std::int64_t index : indices) {
    augment(options_.augmentation, key, index, input.shape, input.dtype, sample);
    sample += bytes_of(input);
  }
}

void Prefetch::fill(const Slot& slot, int part, std::span<std::int64_t> indices) const {
  const Batch& batch = slot.batch;
  const Share rows = share_of(batch.count(), part, options_.threads);
  indices = indices.first(static_cast<std::size_t>(rows.count()));
  sampler_.indices(batch.step, {batch.share.first + rows.first, batch.share.first + rows.last},
                   indices);
  const Samples own = rows_from(batch, rows.first);
  dataset_.read(indices, own);
  if (options_.augmentation.any())
    augment_inputs(batch, indices, own.fields[index_of(fields_, "input")]);
}

void Prefetch::read_ahead(const std::stop_token& stop, std::span<std::int64_t> indices) {
  run_on_any_core();  // not on the core of the rank that started the thread
  const auto depth = static_cast<std::int64_t>(slots_.size());
  const int parts = options_.threads;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto is_slot_free = [&] { return parts_begun_ / parts - released_ < depth; };
    if (!changed_.wait(lock, stop, is_slot_free) || stop.stop_requested()) return;
    const std::int64_t number = parts_begun_ / parts;
    const int part = static_cast<int>(parts_begun_ % parts);
    if (is_end(number)) return;
    Slot& own = slot(number);
    if (part == 0) {
      begin(own, number);
      own.parts_left = parts;
    }
    ++parts_begun_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      fill(own, part, indices);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --own.parts_left;
    if (failure != nullptr) own.failure = failure;
    changed_.notify_all();
    if (failure != nullptr) return;
  }
}

const Batch& Prefetch::next() {
  std::unique_lock lock(mutex_);
  check(taken_ - released_ < static_cast<std::int64_t>(slots_.size()),
        "a batch is released before all slots are held");
  check(!is_end(taken_), "there is a batch left to take");
  Slot& next = slot(taken_);
  const auto is_begun = [&] { return parts_begun_ > taken_ * options_.threads; };
  changed_.wait(lock,
                [&] { return is_begun() && (next.parts_left == 0 || next.failure != nullptr); });
  if (next.failure != nullptr) std::rethrow_exception(next.failure);
  ++taken_;
  return next.batch;
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
