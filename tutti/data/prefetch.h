// SPDX-License-Identifier: Apache-2.0
// Batches read ahead by background threads into a ring of slots, so that reading overlaps with
// training. All threads read parts of the same batch, so that it is soon whole. The sampler alone
// decides what a batch holds, whatever the timing. All memory is taken when the object is made.
#pragma once

#include "tutti/core/field.h"
#include "tutti/core/tensor.h"
#include "tutti/data/augment.h"
#include "tutti/data/dataset.h"
#include "tutti/data/sampler.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

namespace tutti::data {

// A share of a step's batch, or of one of its micro-batches. Its fields are those of the data set
// and, last, the weights of samples or tokens. Each field has room for the largest share
// (Prefetch::capacity()); rows from count() on are zero, with weight 0, so that a program of fixed
// shape may read all rows.
struct Batch {
  std::int64_t step = 0;
  int micro_batch = 0, micro_batches = 1;
  Share share;                         // positions in the whole batch
  std::int64_t total = 0;              // samples of the whole batch
  std::int64_t micro_batch_total = 0;  // samples of the micro-batch
  // What the loss is the mean over: samples of the whole batch, or its tokens where answers are per
  // token.
  std::int64_t units = 0;
  std::int64_t own_units = 0;  // units in this share
  std::int64_t bucket = 0;     // room for tokens in each sample; 0: no field is per token
  Fields fields;               // see batch_fields(); padding and rows past the end weigh 0
  PerField<void*> pointers;    // to each field

  std::int64_t count() const { return share.count(); }
  // Where the rows of a field begin. Throws Error when there is no such field.
  template <class T>
  T* as(std::string_view field) const {
    return static_cast<T*>(pointers[index_of(fields, field)]);
  }
};

struct PrefetchOptions {
  DType dtype = DType::f32;
  int share = 0, shares = 1;  // which of the nearly equal shares of a micro-batch is read
  // The weight of a sample in the loss, given the numbers of samples in this share of the
  // micro-batch (`own`) and in the whole batch (`all`). Where answers are per token: the weight of
  // a token, given numbers of tokens. nullptr: 1.
  std::function<double(std::int64_t own, std::int64_t all)> weight = nullptr;
  int micro_batches = 1;  // of a batch, handed out one after the other
  int depth = 3;          // slots of the ring
  int threads = 1;        // reading threads
  Augmentation augmentation = {};
  std::int64_t first_step = 0;  // batches of steps [first_step, end_step) are made
  std::int64_t end_step = std::numeric_limits<std::int64_t>::max();
};

class Prefetch {
 public:
  // `dataset` must outlive this object.
  Prefetch(const Dataset& dataset, const Sampler& sampler, const PrefetchOptions& options);

  // Waits for the next batch; its memory is valid until released. An exception of a reader comes
  // out here, after the batches read before it. At most depth − 1 batches should be held while
  // waiting, or nothing can be read ahead; holding all is an error.
  const Batch& next();
  // Gives the oldest batch handed out back to the readers.
  void release();
  // Rows in each field: the largest share of a micro-batch of a full batch.
  std::int64_t capacity() const { return capacity_; }

 private:
  struct Slot {
    Batch batch;
    std::vector<Buffer> buffers;        // memory of each field
    std::vector<std::int64_t> samples;  // indices of the whole batch, where lengths matter
    int parts_left = 0;                 // parts still to be read; guarded by mutex_
    std::exception_ptr failure;         // of a part that could not be read; guarded by mutex_
  };

  Slot& slot(std::int64_t number) { return slots_[number % slots_.size()]; }
  void allocate(Slot& slot) const;
  // Prepares the slot for the batch, or micro-batch, that is handed out as the number-th:
  // everything but its samples.
  void begin(Slot& slot, std::int64_t number) const;
  // Whether all batches are handed out before the number-th.
  bool is_end(std::int64_t number) const {
    return number / options_.micro_batches == options_.end_step - options_.first_step;
  }
  // Counts the tokens of the batch and makes room for as many as its longest sample has.
  void begin_tokens(Slot& slot) const;
  // Counts the units of this share and sets the weights.
  void weigh(Slot& slot) const;
  // The memory that the data set reads into: its fields, from row `first` of the batch on.
  Samples rows_from(const Batch& batch, std::int64_t first) const;
  // Augments the inputs at `x`, which are those of the samples at `indices`.
  void augment_inputs(const Batch& batch, std::span<const std::int64_t> indices, void* x) const;
  // Reads one of the parts that the threads read of a batch; `indices` is memory for its samples.
  void fill(const Slot& slot, int part, std::span<std::int64_t> indices) const;
  // What each reading thread does: parts of batches, one after the other, while slots are free.
  void read_ahead(const std::stop_token& stop, std::span<std::int64_t> indices);

  const Dataset& dataset_;
  Sampler sampler_;
  PrefetchOptions options_;
  Fields fields_;  // of a batch, with room for the largest bucket
  std::int64_t capacity_ = 0;
  std::vector<Slot> slots_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Counts so far, guarded by mutex_: parts begun, batches handed out, batches released. Part p of
  // the batch number b is the part number b · threads + p.
  std::int64_t parts_begun_ = 0, taken_ = 0, released_ = 0;
  // The last member: the threads stop before the members that they use are gone.
  std::vector<std::jthread> readers_;
};

}  // namespace tutti::data
