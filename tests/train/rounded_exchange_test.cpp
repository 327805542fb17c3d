// SPDX-License-Identifier: Apache-2.0
// codec.name = "bf16": gradients are rounded to travel, half the bytes, and the result
// hardly differs.
#include "tutti/comm/threads/threads.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/simulate_job.h"

#include "expect_error.h"
#include "train/small_job.h"

namespace tutti {
namespace {

using Changes = std::vector<std::string>;

const Changes shards = {"exchange.store=all", "exchange.store=sharded",
                        "exchange.store=sharded_weights"};

Changes joined(Changes all, const Changes& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Changes in_floats(const Changes& more) {
  return joined({"train.dtype=f32", "machine.backend=cpu"}, more);
}

Changes rounded(const Changes& more) { return joined(in_floats({"codec.name=bf16"}), more); }

TrainSummary summary_of(const Changes& changes) {
  const TemporaryFolder folder;
  return train(small_job(folder, changes), {});
}

std::string bits_of(const Changes& changes) {
  const TemporaryFolder folder;
  train(small_job(folder, joined(changes, {"train.steps=12"})), {});
  return checkpoint_bytes(folder);
}

// A rounding is off by 2⁻⁹ of a gradient at most; over 50 steps that moves the loss by far less
// than it falls. Ranks compare their weights after every step.
TEST(RoundedExchange, TrainsNearlyAsInFull) {
  const Changes job = {"partition.data=2", "exchange.verify=1"};
  const double first = summary_of(in_floats(joined(job, {"train.steps=1"}))).loss;
  const TrainSummary full = summary_of(in_floats(job));
  for (const char* shard : {"exchange.store=all", "exchange.store=sharded"}) {
    const TrainSummary bf16 = summary_of(rounded(joined(job, {shard})));
    EXPECT_LT(bf16.loss, 0.5 * first);
    EXPECT_NEAR(bf16.loss, full.loss, 0.01 * full.loss) << shard;
    EXPECT_NE(bf16.loss, full.loss) << "nothing was rounded";
  }
}

TEST(RoundedExchange, SendsHalfTheBytesOfGradients) {
  const auto part = [](const Changes& job) {
    return static_cast<double>(summary_of(rounded(job)).sent_bytes) /
           static_cast<double>(summary_of(in_floats(job)).sent_bytes);
  };
  // Loss and accuracy, few bytes, travel as they are; and so do weights, those of two layers once.
  const Changes job = {"partition.data=2", "model.hidden=[1000]", "train.steps=2",
                       "train.evaluate_every=0"};
  EXPECT_NEAR(part(joined(job, {shards[0]})), 1.0 / 2, 0.005);
  EXPECT_NEAR(part(joined(job, {shards[1]})), (0.5 + 1) / 2, 0.005);
  EXPECT_NEAR(part(joined(job, {shards[2]})), (0.5 + 1) / 2, 0.005);
}

TEST(RoundedExchange, BitsDependOnNothingElse) {
  const Changes job = rounded({"partition.data=3", "model.hidden=[40,9]", "optimizer.rule=adam"});
  for (const Changes& more : {Changes{}, Changes{"optimizer.clip_norm=0.01"},
                              Changes{"optimizer.rule=lars", "train.accumulate=2"}}) {
    const std::string bits = bits_of(joined(job, more));
    for (const std::string& shard : shards)
      for (const char* algorithm : {"ring", "direct"})
        for (const Changes& when :
             {Changes{"exchange.overlap=false"}, Changes{"exchange.across_steps=off"},
              Changes{"exchange.across_steps=on"}}) {
          Changes one = joined(joined(job, more), when);
          one.insert(one.end(), {shard, "exchange.block_bytes=512"});
          for (const char* key : {"allreduce", "reduce_scatter", "allgather"})
            one.push_back(fmt::format("exchange.{}={}", key, algorithm));
          EXPECT_TRUE(bits_of(one) == bits) << shard << " " << algorithm << " " << when[0];
        }
  }
}

TEST(RoundedExchange, SumsCrossTheStep_C03) {
  const TemporaryFolder folder;
  for (const std::string& shard : shards) {
    const Job job = small_job(folder, rounded({"partition.data=2", shard, "exchange.block_bytes=64",
                                               "exchange.across_steps=on"}));
    const NetInput input = net_input(job, *open_data(job, data::Split::train));
    run_ranks(2, [&](Communicator& communicator) {
      Replica replica(replica_options(job, input, 1, &communicator));
      EXPECT_TRUE(replica.planned_step(12, 6).instructions.may_postpone()) << shard;
    });
  }
}

TEST(RoundedExchange, IsSimulatedAsItRuns_K04) {
  const TemporaryFolder folder;
  const auto step = [&](const Changes& changes) {
    return simulate_job(small_job(folder, changes), 3, nullptr).step;
  };
  for (const char* across : {"exchange.across_steps=on", "exchange.across_steps=off"}) {
    const Changes job = {"partition.data=8", "model.hidden=[1000]", "exchange.store=all",
                         "exchange.block_bytes=1000", across};
    EXPECT_NEAR(step(rounded(job)).bytes_sent / step(in_floats(job)).bytes_sent, 0.5, 0.01);
    EXPECT_LT(step(rounded(job)).step_seconds, step(in_floats(job)).step_seconds);
  }
}

TEST(RoundedExchange, RefusesWhatItCannotRound) {
  const TemporaryFolder folder;
  expect_error([&] { small_job(folder, {"codec.name=bf16"}); },
               {"--set codec.name=bf16", "'name' is \"bf16\"", "train.dtype is f64"});
}

}  // namespace
}  // namespace tutti
