// SPDX-License-Identifier: Apache-2.0
// Which samples a step reads: a pure function of (seed, epoch, position), never of threads, ranks
// or history. An epoch is cut into contiguous batches, a batch into one contiguous share per rank.
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

// The values called so in a recipe.
Order order_named(std::string_view name);
LastBatch last_batch_named(std::string_view name);

// Positions [first, last) of a batch.
struct Share {
  std::int64_t first = 0, last = 0;

  std::int64_t count() const { return last - first; }
};

// The contiguous share of rank `rank` of `ranks` in `count` samples; sizes differ by at most one.
Share share_of(std::int64_t count, int rank, int ranks);

struct Sampling {
  std::int64_t count = 0;  // samples in the data set
  std::int64_t batch = 1;  // samples of a step, over all ranks
  std::uint64_t seed = 0;
  Order order = Order::shuffled;
  LastBatch last_batch = LastBatch::keep;
};

class Sampler {
 public:
  // Throws Error when there is nothing to sample.
  explicit Sampler(const Sampling& sampling);

  const Sampling& sampling() const { return sampling_; }
  std::int64_t steps_per_epoch() const;
  std::int64_t epoch(std::int64_t step) const { return step / steps_per_epoch(); }
  // Samples in the batch of `step`, over all ranks.
  std::int64_t batch(std::int64_t step) const;
  // The sample at `position` of `epoch`, O(1) in time and memory.
  std::int64_t index(std::int64_t epoch, std::int64_t position) const;
  // Writes the samples of `share` of the batch of `step`; `into` has share.count() entries.
  void indices(std::int64_t step, Share share, std::span<std::int64_t> into) const;
  // The samples that `rank` of `ranks` reads in `step`.
  std::vector<std::int64_t> indices(std::int64_t step, int rank = 0, int ranks = 1) const;

 private:
  Sampling sampling_;
};

}  // namespace tutti::data
