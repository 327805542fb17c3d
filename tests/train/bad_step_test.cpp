// SPDX-License-Identifier: Apache-2.0
// After a step whose loss or gradient is not finite nothing changes, however late the host looks;
// and it is told which step and which operator it was.
#include "tutti/train/bad_step.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/reading.h"
#include "tutti/train/replica_options.h"

#include "expect_error.h"
#include "train/small_job.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Samples whose input is finite but so large that the first product is not, from `first_bad` on.
class Overflowing final : public data::Dataset {
 public:
  explicit Overflowing(const data::Dataset& plain) : Dataset(plain), plain_(plain) {}
  std::int64_t first_bad = 24, bad_count = 1;

  void read(std::span<const std::int64_t> indices, const data::Samples& into) const override {
    plain_.read(indices, into);
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (indices[i] >= first_bad && indices[i] < first_bad + bad_count)
        for (std::size_t k = 0; k < 6; ++k)
          static_cast<double*>(into.fields[0])[6 * i + k] = k % 2 == 0 ? 1.7e308 : -1.7e308;
  }

 private:
  const data::Dataset& plain_;
};

std::vector<double> whole_weights(const Replica& replica) {
  const Buffer whole = replica.gather_weights();
  const auto* w = reinterpret_cast<const double*>(whole.data());
  return {w, w + whole.bytes() / 8};
}

// A rank of a job on this data, in its order.
class GuardedRank {
 public:
  GuardedRank(const Job& job, Communicator& communicator)
      : plain_(open_data(job, data::Split::train)),
        data_(*plain_),
        sampler_({.count = data_.count, .batch = 12, .order = data::Order::sequential}),
        reading_{.dtype = DType::f64,
                 .share = communicator.rank(),
                 .shares = communicator.size(),
                 .weight = mean_weight,
                 .micro_batches = static_cast<int>(job.table("train").integer("accumulate")),
                 .depth = 2},
        replica_(replica_options(job, net_input(job, data_), 1, &communicator)) {
    replica_.initialise(1);
  }

  // Steps [first, end), whose results nobody reads.
  void run(std::int64_t first, std::int64_t end, bool may_postpone = false) {
    data::PrefetchOptions reading = reading_;
    reading.first_step = first;
    data::Prefetch prefetch(data_, sampler_, reading);
    for (std::int64_t step = first; step < end; ++step)
      for (int pass = 0; pass < reading_.micro_batches; ++pass) {
        const data::Batch& batch = prefetch.next();
        replica_.run_step(pointers_of(batch), state_of(step), nullptr, may_postpone);
        prefetch.release();
      }
  }
  [[noreturn]] void explain(std::int64_t step) {
    explain_bad_step(replica_, data_, sampler_, reading_, state_of(step), nullptr);
  }

  Replica& replica() { return replica_; }
  Overflowing& data() { return data_; }

 private:
  static StepState state_of(std::int64_t step) { return {.step = step, .key = 1, .rate = 0.1}; }

  std::unique_ptr<data::Dataset> plain_;
  Overflowing data_;
  data::Sampler sampler_;
  data::PrefetchOptions reading_;
  Replica replica_;
};

// Samples 24 to 35 are those of step 2.
TEST(BadStep, NothingChangesHoweverLateTheHostLooks) {
  const std::vector<std::vector<std::string>> ways = {
      {},
      {"optimizer.clip_norm=1"},
      {"train.accumulate=3"},
      {"partition.data=2", "exchange.store=all"},
      {"partition.data=2", "exchange.store=sharded"},
      {"partition.data=2", "exchange.store=sharded_weights"},
      {"partition.data=2", "exchange.store=sharded", "train.accumulate=2"},
      {"partition.data=2", "exchange.across_steps=on", "exchange.block_bytes=64"},
      {"machine.backend=deferred"},
      {"machine.backend=deferred", "partition.data=2", "exchange.store=sharded_weights"},
      {"machine.backend=deferred", "partition.data=2", "exchange.across_steps=on",
       "exchange.block_bytes=64"},
  };
  for (const std::vector<std::string>& way : ways) {
    const TemporaryFolder folder;
    const Job job = small_job(folder, way);
    const std::string name = fmt::format("{}", fmt::join(way, " "));
    std::vector<double> before, after;
    const auto train = [&](Communicator& communicator) {
      GuardedRank rank(job, communicator);
      rank.data().first_bad = 35;  // on the last rank, in the last pass
      rank.run(0, 2);
      const std::vector<double> own_before = whole_weights(rank.replica());
      rank.run(2, 5, /*may_postpone=*/true);
      EXPECT_EQ(rank.replica().result().bad_step, 2) << name;
      EXPECT_TRUE(std::isfinite(rank.replica().result().loss)) << name << ": the step was fine";
      const std::vector<double> own_after = whole_weights(rank.replica());
      if (communicator.rank() == 0) before = own_before, after = own_after;
      communicator.barrier();
      rank.explain(2);
    };
    expect_error([&] { run_ranks(job.ranks(), train); },
                 {"step 2: ", "the loss or the gradient is not finite", "the result of ", " of fc1",
                  "optimizer.rate"});
    EXPECT_FALSE(before.empty());
    EXPECT_TRUE(before == after) << name;
  }
}

// The loss of the first pass is not finite; the pass that closes the step is fine.
TEST(BadStep, APassThatIsNotFiniteStopsTheStep) {
  const TemporaryFolder folder;
  const Job job = small_job(folder, {"train.accumulate=2"});
  run_ranks(1, [&](Communicator& communicator) {
    GuardedRank rank(job, communicator);
    rank.data().first_bad = 12;
    rank.run(0, 1);
    const std::vector<double> before = whole_weights(rank.replica());
    rank.run(1, 2);
    EXPECT_EQ(rank.replica().result().bad_step, 1);
    EXPECT_TRUE(whole_weights(rank.replica()) == before);
    expect_error([&] { rank.explain(1); }, {"step 1: ", "the result of ", " of fc1"});
  });
}

// A loss that is finite and a gradient that is not: where there is a norm, all weights stay; else
// those whose own gradient is finite may change, once.
TEST(BadStep, AGradientThatIsNotFiniteStopsWhatFollows) {
  for (const bool clipped : {true, false}) {
    const TemporaryFolder folder;
    const Job job =
        small_job(folder, {clipped ? "optimizer.clip_norm=1" : "optimizer.clip_norm=0",
                           "data.targets=2", "model.hidden=[]", "exchange.block_bytes=8"});
    const auto dataset = open_data(job, data::Split::train);
    Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
    // Weights of zero let inputs of any size through; their gradient overflows.
    replica.initialise(1, [&](void* weights, void*) {
      std::fill_n(static_cast<double*>(weights), replica.table().count(), 0.0);
    });
    std::vector<double> x(12, 0.5);
    const std::vector<double> y(4, 100.0), weights(2, 0.5);
    const BatchPointers batch{2, 2, {x.data(), y.data(), weights.data()}};
    replica.run_step(batch, {.rate = 0.1});
    const std::vector<double> before = whole_weights(replica);
    std::fill(x.begin(), x.end(), 1e308);
    replica.set_weights(Buffer(8 * replica.table().count()));
    replica.run_step(batch, {.step = 1, .rate = 0.1});
    EXPECT_EQ(replica.result().bad_step, 1);
    EXPECT_TRUE(std::isfinite(replica.result().loss));
    const std::vector<double> there = whole_weights(replica);
    EXPECT_EQ(there == std::vector<double>(there.size()), clipped);
    std::fill(x.begin(), x.end(), 0.5);
    replica.run_step(batch, {.step = 2, .rate = 0.1});
    EXPECT_TRUE(whole_weights(replica) == there);
    EXPECT_EQ(replica.result().bad_step, 1);
    EXPECT_FALSE(before == there);
  }
}

}  // namespace
}  // namespace tutti
