// SPDX-License-Identifier: Apache-2.0
// exchange.shard: who updates what changes no bit, no file and no error.
#include "tutti/comm/threads/threads.h"
#include "tutti/train/train.h"

#include "exec/training.h"
#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

const std::string shard = "exchange.shard=optimizer", whole = "exchange.shard=none";

Job lenet_job(const TemporaryFolder& folder, const std::vector<std::string>& changes) {
  std::string text = small_recipe;
  const std::string of_mlp = "name = \"mlp\"\nhidden = [8]";
  text.replace(text.find(of_mlp), of_mlp.size(), "name = \"lenet\"");
  Recipe recipe = parse_recipe(text, "lenet.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  for (const char* change :
       {"train.record=none", "data.shape=[1,12,12]", "data.count=12", "data.test_count=4",
        "train.batch=8", "machine.backend=cpu", "train.dtype=f32"})
    set(recipe, change);
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

// The checkpoint after 50 steps.
std::string trained(const std::vector<std::string>& changes, const std::string& change = "",
                    bool lenet = false) {
  const TemporaryFolder folder;
  std::vector<std::string> all = changes;
  if (!change.empty()) all.push_back(change);
  const Job job = lenet ? lenet_job(folder, all) : small_job(folder, all);
  EXPECT_EQ(train(job, {}).steps_done, 50);
  return checkpoint_bytes(folder);
}

TEST(Shard, ChangesNoBitOfTheCheckpointC01) {
  const std::vector<std::string> lenet = {};
  const std::vector<std::vector<std::string>> cases = {
      {"model.hidden=[40,9]"},
      {"model.hidden=[40,9]", "optimizer.rule=adam", "optimizer.clip_norm=0.01",
       "optimizer.weight_decay=0.1"},
      {"model.hidden=[40,9]", "machine.backend=cpu", "train.dtype=f32", "optimizer.rule=adam",
       "optimizer.clip_norm=0.01"},
      lenet};
  for (const std::vector<std::string>& changes : cases)
    for (const char* ranks : {"partition.data=3", "partition.data=4"})
      for (const char* block : {"exchange.block_bytes=512", "exchange.block_bytes=1000000"}) {
        std::vector<std::string> own = changes;
        own.insert(own.end(), {ranks, block});
        const std::string bits = trained(own, whole, changes == lenet);
        own.push_back(shard);
        for (const char* overlap : {"exchange.overlap=true", "exchange.overlap=false"})
          for (const char* algorithm : {"ring", "direct"}) {
            std::vector<std::string> one = own;
            one.emplace_back(overlap);
            for (const char* key : {"allreduce", "reduce_scatter", "allgather"})
              one.push_back(fmt::format("exchange.{}={}", key, algorithm));
            EXPECT_TRUE(trained(one, "", changes == lenet) == bits)
                << (changes == lenet ? "lenet" : changes.back()) << " " << ranks << " " << overlap
                << " " << algorithm << " " << block;
          }
      }
}

TEST(Shard, ResumesBitForBitWhateverTheRanksHadL01) {
  const std::vector<std::string> job = {"model.hidden=[40]", "optimizer.rule=adam",
                                        "partition.data=3"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> changes = job;
    changes.insert(changes.end(), more);
    return changes;
  };
  const TemporaryFolder straight;
  train(small_job(straight, job), {});
  for (const std::string& before : {shard, whole})
    for (const std::string& after : {shard, whole}) {
      const TemporaryFolder parts;
      train(small_job(parts, with({before, "train.steps=23"})), {});
      train(small_job(parts, with({after})), {.resume = true});
      EXPECT_TRUE(checkpoint_bytes(parts) == checkpoint_bytes(straight)) << before << " " << after;
    }
  // Another number of ranks goes on from the same file.
  std::string bits;
  for (const std::string& before : {shard, whole}) {
    const TemporaryFolder parts;
    train(small_job(parts, with({before, "train.steps=23"})), {});
    train(small_job(parts, with({before, "partition.data=2"})), {.resume = true});
    if (bits.empty()) bits = checkpoint_bytes(parts);
    EXPECT_TRUE(checkpoint_bytes(parts) == bits) << before;
  }
}

TEST(Shard, GuardNamesAnOperator) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        train(small_job(folder, {"optimizer.rate=1e300", "partition.data=3", shard}), {});
      },
      {"step ", "not finite", " of fc", "optimizer.rate"});
  EXPECT_FALSE(std::filesystem::exists(folder.file("small.safetensors")));
}

// Weights of zero let inputs of any size through; their gradient overflows on rank 1 only.
TEST(Shard, AGradientThatIsNotFiniteIsAppliedNowhere) {
  for (const bool sharded : {false, true}) {
    std::vector<std::vector<float>> before(2), after(2);
    std::int64_t overflowing = 0;
    expect_error(
        [&] {
          run_ranks(2, [&](Communicator& communicator) {
            const auto rank = static_cast<std::size_t>(communicator.rank());
            test::Training training({.settings = {{"hidden", Shape{64}}},
                                     .sample = {1, 4, 4},
                                     .batch = 4,
                                     .shard = sharded},
                                    &communicator);
            const RangeTable& table = training.replica().table();
            auto* w = static_cast<float*>(training.replica().weights());
            std::fill_n(w, table.ranges[0].count, 0.0f);
            std::fill_n(w + table.ranges[1].offset, table.ranges[1].count, 1.0f);
            if (rank == 0) overflowing = table.ranges[0].count;
            before[rank] = training.parameters();
            if (rank == 1) {
              std::fill(training.x().begin(), training.x().end(), 3e38f);
              std::fill(training.sample_weights().begin(), training.sample_weights().end(), 1e3f);
            }
            try {
              training.step();
            } catch (const Error&) {
              after[rank] = training.parameters();
              communicator.barrier();
              throw;
            }
          });
        },
        {"the gradient is not finite"});
    ASSERT_EQ(before[0], before[1]);
    ASSERT_FALSE(after[0].empty() || after[1].empty()) << "every rank has noticed";
    EXPECT_EQ(after[0], after[1]);
    for (std::int64_t i = 0; i < overflowing; ++i)
      ASSERT_EQ(after[0][static_cast<std::size_t>(i)], 0) << "element " << i;
    for (const float weight : after[0]) ASSERT_TRUE(std::isfinite(weight));
  }
}

TEST(Shard, StateIsHeldOnce) {
  for (const int ranks : {2, 3}) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
    std::int64_t table = 0;
    run_ranks(ranks, [&](Communicator& communicator) {
      test::Training training({.batch = 6, .shard = true}, &communicator);
      counts[static_cast<std::size_t>(communicator.rank())] = training.replica().layout().count;
      if (communicator.rank() == 0) table = training.replica().table().count();
    });
    for (const std::int64_t count : counts)
      EXPECT_NEAR(static_cast<double>(count), static_cast<double>(table) / ranks,
                  0.001 * static_cast<double>(table));
  }
}

TEST(Shard, OneRankOwnsEverything) { EXPECT_TRUE(trained({}, shard) == trained({}, whole)); }

}  // namespace
}  // namespace tutti
