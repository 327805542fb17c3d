// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/sampler.h"

#include "data/scratch.h"
#include "data/share_of_step.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

namespace tutti::data {
namespace {

using Indices = std::vector<std::int64_t>;

Indices epoch_of(const Sampler& sampler, std::int64_t epoch) {
  Indices all;
  const std::int64_t steps = sampler.steps_per_epoch();
  for (std::int64_t step = epoch * steps; step < (epoch + 1) * steps; ++step)
    for (std::int64_t index : sampler.indices(step)) all.push_back(index);
  return all;
}

Indices sorted(Indices values) {
  std::sort(values.begin(), values.end());
  return values;
}

Indices counting_to(std::int64_t count) {
  Indices all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Sampler, A03_EveryEpochIsTheWholeDataSet) {
  for (std::int64_t batch : {1, 7, 32, 100, 500}) {
    const Sampler sampler({.count = 100, .batch = batch, .seed = 3});
    for (std::int64_t epoch : {0, 1, 5}) {
      EXPECT_EQ(sorted(epoch_of(sampler, epoch)), counting_to(100)) << batch;
      EXPECT_EQ(sampler.epoch(epoch * sampler.steps_per_epoch()), epoch);
    }
    EXPECT_NE(epoch_of(sampler, 0), epoch_of(sampler, 1)) << "each epoch has its own order";
  }
}

TEST(Sampler, A03_BatchesAreSegmentsOfTheEpoch) {
  const Sampler small({.count = 60, .batch = 4, .seed = 9});
  const Sampler large({.count = 60, .batch = 30, .seed = 9});
  EXPECT_EQ(epoch_of(small, 2), epoch_of(large, 2)) << "the order doesn't depend on the batch";
}

TEST(Sampler, A04_SharesAreDisjointAndCoverTheBatch) {
  const Sampler sampler({.count = 103, .batch = 25, .seed = 1});
  for (int ranks : {1, 2, 3, 4, 7, 30}) {
    for (std::int64_t step = 0; step < 2 * sampler.steps_per_epoch(); ++step) {
      Indices joined;
      std::size_t least = 1000, most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Indices part = share_of_step(sampler, step, rank, ranks);
        joined.insert(joined.end(), part.begin(), part.end());
        least = std::min(least, part.size());
        most = std::max(most, part.size());
      }
      EXPECT_EQ(joined, sampler.indices(step)) << "contiguous shares in rank order";
      EXPECT_LE(most - least, 1u);
      EXPECT_EQ(std::set<std::int64_t>(joined.begin(), joined.end()).size(), joined.size());
    }
  }
}

TEST(Sampler, A04_SequenceIsTheSameForAnyNumberOfThreads) {
  const Sampler sampler({.count = 1000, .batch = 10, .seed = 5});
  const Indices expected = epoch_of(sampler, 3);
  for (int threads : {1, 2, 4}) {
    Indices found(1000);
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread)
      team.emplace_back([&, thread] {
        for (int i = thread; i < 1000; i += threads) found[i] = sampler.index(3, i);
      });
    team.clear();
    EXPECT_EQ(found, expected) << threads;
  }
}

TEST(Sampler, A04_LastBatchIsKeptOrDropped) {
  const Sampler keep({.count = 10, .batch = 4});
  EXPECT_EQ(keep.steps_per_epoch(), 3);
  EXPECT_EQ(keep.batch(2), 2);
  EXPECT_EQ(keep.batch(3), 4);
  EXPECT_EQ(keep.indices(2).size(), 2u);
  const Sampler drop({.count = 10, .batch = 4, .last_batch = LastBatch::drop});
  EXPECT_EQ(drop.steps_per_epoch(), 2);
  EXPECT_EQ(drop.batch(1), 4);
  EXPECT_EQ(epoch_of(drop, 0).size(), 8u);
  EXPECT_EQ(drop.epoch(2), 1);
}

TEST(Sampler, I11_BatchesGrowWithinAnEpoch) {
  const Sampler sampler({.count = 20, .batch = 4, .changes = {{2, 8}, {6, 16}}});
  const std::vector<std::int64_t> batches = {4, 4, 8, 4, 8, 8, 4, 16, 4, 16};
  const std::vector<std::int64_t> epochs = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  const std::vector<std::int64_t> positions = {0, 4, 8, 16, 0, 8, 16, 0, 16, 0};
  for (std::int64_t step = 0; step < 10; ++step) {
    EXPECT_EQ(sampler.batch(step), batches[step]) << step;
    EXPECT_EQ(sampler.epoch(step), epochs[step]) << step;
    EXPECT_EQ(sampler.position(step), positions[step]) << step;
  }
  for (std::int64_t steps = 1; steps < 10; ++steps)
    EXPECT_EQ(sampler.ends_epoch(steps), steps == 4 || steps == 7 || steps == 9) << steps;
  EXPECT_EQ(sampler.steps_of(1), 4);
  EXPECT_EQ(sampler.steps_of(2), 7);
  EXPECT_EQ(sampler.steps_of(3), 9);
  EXPECT_EQ(sampler.steps_of(5), 13);
  EXPECT_EQ(sampler.largest_batch(), 16);
}

TEST(Sampler, I11_GrowingBatchesReadTheSameSamplesInTheSameOrder) {
  const Sampler small({.count = 60, .batch = 4, .seed = 9});
  const Sampler growing({.count = 60, .batch = 4, .seed = 9, .changes = {{3, 8}, {10, 20}}});
  const auto read = [](const Sampler& sampler, std::int64_t epochs) {
    Indices all;
    for (std::int64_t step = 0; step < sampler.steps_of(epochs); ++step)
      for (std::int64_t index : sampler.indices(step)) all.push_back(index);
    return all;
  };
  EXPECT_EQ(read(small, 3), read(growing, 3));
  EXPECT_LT(growing.steps_of(3), small.steps_of(3));
}

TEST(Sampler, I11_ALargerBatchThatNoLongerFitsIsDropped) {
  const Sampler sampler(
      {.count = 20, .batch = 4, .last_batch = LastBatch::drop, .changes = {{4, 8}}});
  EXPECT_EQ(sampler.epoch(3), 0);
  EXPECT_EQ(sampler.epoch(4), 1);  // 4 samples are left of epoch 0
  EXPECT_EQ(sampler.position(4), 0);
  EXPECT_TRUE(sampler.ends_epoch(4));
  EXPECT_EQ(sampler.steps_of(1), 4);
  EXPECT_EQ(sampler.steps_of(2), 6);
  expect_error(
      [] {
        Sampler({.count = 5, .batch = 2, .last_batch = LastBatch::drop, .changes = {{1, 6}}});
      },
      {"batch of 6", "5 samples"});
}

TEST(Sampler, A02_WithReplacementIsUniform) {
  const Sampler sampler({.count = 10, .batch = 10, .order = Order::replacement});
  std::vector<int> seen(10);
  int epochs_with_repetition = 0;
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch) {
    const Indices drawn = epoch_of(sampler, epoch);
    for (std::int64_t index : drawn) ++seen[index];
    epochs_with_repetition += std::set<std::int64_t>(drawn.begin(), drawn.end()).size() < 10;
  }
  EXPECT_GT(epochs_with_repetition, 990);  // 10!/10¹⁰ of them have none
  double chi_squared = 0;  // 9 degrees of freedom: below 27.9 with probability 0.999
  for (int times : seen) chi_squared += (times - 1000.0) * (times - 1000.0) / 1000;
  EXPECT_LT(chi_squared, 27.9);
}

TEST(Sampler, SequentialCounts) {
  const Sampler sampler({.count = 10, .batch = 3, .seed = 8, .order = Order::sequential});
  EXPECT_EQ(epoch_of(sampler, 4), counting_to(10));
}

TEST(Sampler, SeedsDiffer) {
  const Sampler one({.count = 100, .batch = 10, .seed = 1});
  const Sampler two({.count = 100, .batch = 10, .seed = 2});
  EXPECT_NE(epoch_of(one, 0), epoch_of(two, 0));
}

TEST(Sampler, Errors) {
  expect_error([] { Sampler({.count = 0}); }, {"no samples"});
  expect_error([] { Sampler({.count = 5, .batch = 0}); }, {"batch is 0", "at least 1"});
  expect_error([] { Sampler({.count = 5, .batch = 6, .last_batch = LastBatch::drop}); },
               {"batch of 6", "5 samples", "reduce"});
  EXPECT_EQ(order_named("shuffled"), Order::shuffled);
  EXPECT_EQ(order_named("replacement"), Order::replacement);
  EXPECT_EQ(order_named("sequential"), Order::sequential);
  EXPECT_EQ(last_batch_named("keep"), LastBatch::keep);
  EXPECT_EQ(last_batch_named("drop"), LastBatch::drop);
  expect_error([] { order_named("shufled"); }, {"shufled", "did you mean 'shuffled'"});
  expect_error([] { last_batch_named("pad"); }, {"pad", "keep"});
}

}  // namespace
}  // namespace tutti::data
