// SPDX-License-Identifier: Apache-2.0
// Which samples a step reads: a pure function of (seed, epoch, position), never of threads, ranks
// or history. An epoch is cut into contiguous batches, which may be read in contiguous shares.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::data {

enum class Order {
  shuffled,     // every sample once per epoch, each epoch in its own random order
  replacement,  // each position draws from the whole data set
  sequential,   // 0, 1, 2, … in every epoch
};

// What becomes of the samples left when the batch doesn't divide the data set.
enum class LastBatch { keep, drop };

// The values with these names in a recipe.
Order order_named(std::string_view name);
LastBatch last_batch_named(std::string_view name);

// Positions [first, last) of a batch.
struct Share {
  std::int64_t first = 0, last = 0;

  std::int64_t count() const { return last - first; }
};

// The part-th of `parts` contiguous shares of `count` samples; sizes differ by at most one.
Share share_of(std::int64_t count, int part, int parts);

// From `step` on, batches have `batch` samples.
struct BatchChange {
  std::int64_t step = 0, batch = 1;
};

struct Sampling {
  std::int64_t count = 0;  // samples in the data set
  std::int64_t batch = 1;  // samples of a step
  std::uint64_t seed = 0;
  Order order = Order::shuffled;
  LastBatch last_batch = LastBatch::keep;
  std::vector<BatchChange> changes = {};  // in order of steps, all after step 0
};

class Sampler {
 public:
  // Throws Error when there is nothing to sample.
  explicit Sampler(const Sampling& sampling);

  const Sampling& sampling() const { return sampling_; }
  // The steps of an epoch while the batch has its first size.
  std::int64_t steps_per_epoch() const { return steps_in(sampling_.count, sampling_.batch); }
  // The steps of the first `epochs` epochs.
  std::int64_t steps_of(std::int64_t epochs) const;
  std::int64_t epoch(std::int64_t step) const { return place(step).epoch; }
  // Whether an epoch is complete after `steps` steps.
  bool ends_epoch(std::int64_t steps) const { return epoch(steps) != epoch(steps - 1); }
  // How many samples of its epoch come before those of `step`.
  std::int64_t position(std::int64_t step) const { return place(step).position; }
  // Samples in the batch of `step`.
  std::int64_t batch(std::int64_t step) const;
  std::int64_t largest_batch() const;
  // The sample at `position` of `epoch`, O(1) in time and memory.
  std::int64_t index(std::int64_t epoch, std::int64_t position) const;
  // Writes the samples of `share` of the batch of `step`; `into` has share.count() entries.
  void indices(std::int64_t step, Share share, std::span<std::int64_t> into) const;
  // All samples of `step`.
  std::vector<std::int64_t> indices(std::int64_t step) const;

 private:
  // Where a step begins in its epoch, and the size of its batch.
  struct Place {
    std::int64_t epoch = 0, position = 0, batch = 1;
  };
  // The steps from `step` on, which have the same size of batch; `first` is the place of `step`.
  struct Segment {
    std::int64_t step = 0;
    Place first;
  };

  std::int64_t steps_in(std::int64_t samples, std::int64_t batch) const;
  Place place(std::int64_t step) const;

  Sampling sampling_;
  std::vector<Segment> segments_;
};

}  // namespace tutti::data
