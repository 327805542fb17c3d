// SPDX-License-Identifier: Apache-2.0
// exchange.store: who updates what changes no bit, no file and no error.
#include "tutti/comm/threads/threads.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/train.h"

#include "exec/training.h"
#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tutti {
namespace {

const std::string shard = "exchange.store=sharded", whole = "exchange.store=all",
                  parameters = "exchange.store=sharded_weights";

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

// The checkpoint after some steps.
std::string trained(const std::vector<std::string>& changes, const std::string& change = "",
                    bool lenet = false, int steps = 50) {
  const TemporaryFolder folder;
  std::vector<std::string> all = changes;
  all.push_back(fmt::format("train.steps={}", steps));
  if (!change.empty()) all.push_back(change);
  const Job job = lenet ? lenet_job(folder, all) : small_job(folder, all);
  EXPECT_EQ(train(job, {}).steps_done, steps);
  return checkpoint_bytes(folder);
}

TEST(Shard, ChangesNoBitOfTheCheckpointC01) {
  constexpr int steps = 12;  // a bit that differs in one differs in all that follow
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
        const std::string bits = trained(own, whole, changes == lenet, steps);
        for (const std::string& sharded : {shard, parameters})
          for (const char* overlap : {"exchange.overlap=true", "exchange.overlap=false"})
            for (const char* algorithm : {"ring", "direct"}) {
              std::vector<std::string> one = own;
              one.insert(one.end(), {sharded, overlap});
              for (const char* key : {"allreduce", "reduce_scatter", "allgather"})
                one.push_back(fmt::format("exchange.{}={}", key, algorithm));
              EXPECT_TRUE(trained(one, "", changes == lenet, steps) == bits)
                  << (changes == lenet ? "lenet" : changes.back()) << " " << ranks << " " << sharded
                  << " " << overlap << " " << algorithm << " " << block;
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
  for (const std::string& before : {shard, whole, parameters})
    for (const std::string& after : {shard, whole, parameters}) {
      const TemporaryFolder parts;
      train(small_job(parts, with({before, "train.steps=23"})), {});
      train(small_job(parts, with({after})), {.resume = true});
      EXPECT_TRUE(checkpoint_bytes(parts) == checkpoint_bytes(straight)) << before << " " << after;
    }
  // Another number of ranks goes on from the same file.
  std::string bits;
  for (const std::string& before : {shard, whole, parameters}) {
    const TemporaryFolder parts;
    train(small_job(parts, with({before, "train.steps=23"})), {});
    train(small_job(parts, with({before, "partition.data=2"})), {.resume = true});
    if (bits.empty()) bits = checkpoint_bytes(parts);
    EXPECT_TRUE(checkpoint_bytes(parts) == bits) << before;
  }
}

TEST(Shard, GuardNamesAnOperator) {
  for (const std::string& sharded : {shard, parameters}) {
    const TemporaryFolder folder;
    expect_error(
        [&] {
          train(small_job(folder, {"optimizer.rate=1e300", "partition.data=3", sharded}), {});
        },
        {"step ", "not finite", " of fc", "optimizer.rate"});
    EXPECT_FALSE(std::filesystem::exists(folder.file("small.safetensors")));
  }
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
            const Buffer weights(table.count() * bytes_of(DType::f32));
            auto* w = reinterpret_cast<float*>(weights.data());
            std::copy_n(static_cast<float*>(training.replica().weights()), table.count(), w);
            std::fill_n(w, table.ranges[0].count, 0.0f);
            std::fill_n(w + table.ranges[1].offset, table.ranges[1].count, 1.0f);
            training.replica().set_weights(weights);
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
      counts[static_cast<std::size_t>(communicator.rank())] =
          training.replica().vectors().vector(Base::optimizer).layout.count;
      if (communicator.rank() == 0) table = training.replica().table().count();
    });
    for (const std::int64_t count : counts)
      EXPECT_NEAR(static_cast<double>(count), static_cast<double>(table) / ranks,
                  0.001 * static_cast<double>(table));
  }
}

// Ranks of one process that update their own parts have one copy of the weights between them.
TEST(Shard, ThreadsHaveTheWeightsInCommon) {
  for (const bool shards : {true, false}) {
    std::array<void*, 2> weights{};
    std::array<std::vector<float>, 2> after;
    run_ranks(2, [&](Communicator& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      test::Training training({.batch = 6, .shard = shards}, &communicator);
      for (int step = 0; step < 3; ++step) training.step();
      weights[rank] = training.replica().weights();
      after[rank] = training.parameters();
      communicator.barrier();
    });
    EXPECT_EQ(weights[0] == weights[1], shards);
    EXPECT_EQ(after[0], after[1]);
  }
}

TEST(Shard, OneRankOwnsEverything) {
  EXPECT_TRUE(trained({}, shard) == trained({}, whole));
  EXPECT_TRUE(trained({}, parameters) == trained({}, whole));
}

// With accumulation g holds whole sums over micro-batches, which are then exchanged.
TEST(Shard, ChangesNoBitUnderAccumulationA09) {
  for (const char* ranks : {"partition.data=3", "partition.data=4"}) {
    const std::vector<std::string> job = {"model.hidden=[40,9]", "train.accumulate=3",
                                          "optimizer.clip_norm=0.01", ranks};
    const std::string bits = trained(job, whole);
    for (const std::string& sharded : {shard, parameters})
      EXPECT_TRUE(trained(job, sharded) == bits) << ranks << " " << sharded;
  }
}

// Weights that are not trained are kept by every rank.
TEST(Shard, LeavesWhatIsNotTrainedWhole) {
  const auto bits = [](const std::string& sharded) {
    const TemporaryFolder folder;
    Recipe recipe = parse_recipe(small_recipe, "small.toml");
    recipe.tables["model"] = {{"name", std::string("lenet5")}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const std::string& change :
         {std::string("train.record=none"), std::string("data.shape=[1,32,32]"),
          std::string("data.classes=10"), std::string("train.steps=3"),
          std::string("data.count=12"), std::string("data.test_count=4"),
          std::string("train.batch=4"), std::string("machine.backend=cpu"),
          std::string("train.dtype=f32"), std::string("partition.data=2"), sharded})
      set(recipe, change);
    train(make_job(recipe, default_lists()), {});
    return checkpoint_bytes(folder);
  };
  EXPECT_TRUE(bits(parameters) == bits(whole));
}

struct Memory {
  std::int64_t weights = 0, gradients = 0, state = 0, vectors = 0, arena = 0;
};

// Of rank 0. Layers of 64 KiB, with their biases.
Memory memory_of(const std::string& sharded, int ranks,
                 const char* micro_batches = "train.accumulate=1") {
  const TemporaryFolder folder;
  const Job job =
      small_job(folder, {"model.hidden=[128,128,128,128,128,128,128,128]", "data.shape=[128]",
                         "train.batch=16", "train.dtype=f32", "machine.backend=cpu",
                         "optimizer.rule=adam", "exchange.block_bytes=65536", sharded,
                         micro_batches, fmt::format("partition.data={}", ranks)});
  const auto dataset = open_data(job, data::Split::train);
  Memory memory;
  run_ranks(ranks, [&](Communicator& communicator) {
    Replica replica(replica_options(job, net_input(job, *dataset), 1, &communicator));
    const Program& program = replica.training_program(16, 16 / ranks);
    if (communicator.rank() == 0)
      memory = {replica.plan().bytes(Base::weights), replica.plan().bytes(Base::gradients),
                replica.plan().bytes(Base::optimizer), replica.plan().bytes(),
                program.memory().arena_bytes};
  });
  return memory;
}

// docs/data-parallelism.md: (2 + s)·N/P bytes of vectors, and in the arena three blocks of weights
// and three of gradients at most.
TEST(Shard, ParametersTakeThePredictedMemory) {
  const Memory all = memory_of(whole, 4), state = memory_of(shard, 4);
  const Memory parts = memory_of(parameters, 4);
  EXPECT_EQ(all.weights, all.gradients);
  EXPECT_EQ(all.vectors, 4 * all.weights);
  EXPECT_EQ(state.vectors, 2 * all.weights + 2 * state.state);
  EXPECT_EQ(parts.vectors, 4 * state.state);
  // A line for each block more, at most.
  EXPECT_NEAR(static_cast<double>(parts.weights), static_cast<double>(all.weights) / 4,
              0.01 * static_cast<double>(all.weights));
  constexpr std::int64_t layer = 128 * 128 * 4;
  EXPECT_GT(parts.arena, all.arena);
  EXPECT_LT(parts.arena, all.arena + 6 * layer + 6 * 4096);
  EXPECT_LT(parts.vectors + parts.arena, all.vectors / 2) << "much is saved in all";
  // Sums over micro-batches are whole.
  const Memory cut = memory_of(parameters, 4, "train.accumulate=2");
  EXPECT_EQ(cut.gradients, all.gradients);
  EXPECT_EQ(cut.weights, parts.weights);
}

// Blocks of a line: rank 0 owns all of them.
TEST(Shard, ARankMayOwnNothing) {
  const std::vector<std::string> tiny = {"model.hidden=[2]", "data.shape=[4]", "partition.data=2",
                                         "exchange.block_bytes=1"};
  const std::string bits = trained(tiny, whole);
  for (const std::string& sharded : {shard, parameters})
    EXPECT_TRUE(trained(tiny, sharded) == bits) << sharded;
}

TEST(Shard, SvrgNeedsWholeWeights) {
  const TemporaryFolder folder;
  expect_error(
      [&] {
        small_job(folder, {"optimizer.variance_reduction=svrg", parameters});
      },
      {"'variance_reduction' is \"svrg\"", "whole weights", "exchange.store all or sharded"});
}

}  // namespace
}  // namespace tutti
