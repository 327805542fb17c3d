// SPDX-License-Identifier: Apache-2.0
// What compiled training steps are held to: no allocation by our code, an arena hardly larger than
// what is alive, and the same results whichever pass or back end made them.
#include "tutti/comm/threads/threads.h"

#include "exec/allocations.h"
#include "exec/training.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace tutti {
namespace {

using test::Training;
using test::TrainingOptions;

TEST(Allocations, ThoseOfThisProgramAreCounted) {
  test::start_counting();
  const std::string text(1000, 'x');  // asked for by the C++ library, for us
  const auto number = std::make_unique<int>(7);
  const test::Allocations found = test::stop_counting();
  EXPECT_EQ(text.size() + static_cast<std::size_t>(*number), 1007u);
  EXPECT_EQ(found.ours, 2);
  EXPECT_EQ(found.foreign, 0);
  EXPECT_GE(found.largest_bytes, 1000u);
}

struct SteadyCase {
  const char* model;
  int ranks, threads;
  bool shard = false;
};

class SteadyState : public testing::TestWithParam<SteadyCase> {};

TEST_P(SteadyState, TrainingStepsAllocateNothing) {
  const auto [model, ranks, threads, shard] = GetParam();
  test::Allocations found;
  run_ranks(
      ranks, [&, model = model, threads = threads, shard = shard](Communicator& communicator) {
        Training training({.model = model, .threads = threads, .shard = shard}, &communicator);
        for (int k = 0; k < 5; ++k) training.step();  // warm-up
        communicator.barrier();
        if (communicator.rank() == 0) test::start_counting();
        communicator.barrier();
        for (int k = 0; k < 20; ++k) training.step();
        communicator.barrier();
        if (communicator.rank() == 0) found = test::stop_counting();
        communicator.barrier();
      });
  EXPECT_EQ(found.ours, 0);
  EXPECT_LE(found.largest_bytes, 4096u);
  RecordProperty("allocations_inside_foreign_calls", static_cast<int>(found.foreign));
  std::printf("allocations inside foreign calls per step: %.1f, the largest of %zu bytes\n",
              static_cast<double>(found.foreign) / 20, found.largest_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Models, SteadyState,
    testing::Values(SteadyCase{"mlp", 1, 1}, SteadyCase{"mlp", 1, 2}, SteadyCase{"mlp", 2, 1},
                    SteadyCase{"lenet", 1, 1}, SteadyCase{"lenet", 1, 2}, SteadyCase{"lenet", 2, 1},
                    SteadyCase{"mlp", 2, 1, true}, SteadyCase{"lenet", 2, 1, true}),
    [](const auto& tested) {
      return fmt::format("{}_{}_ranks_{}_threads{}", tested.param.model, tested.param.ranks,
                         tested.param.threads, tested.param.shard ? "_sharded" : "");
    });

TEST(Arena, IsHardlyLargerThanWhatIsAlive) {
  for (const auto& [model, sample] : {std::pair<const char*, Shape>{"mlp", {1, 28, 28}},
                                      {"lenet", {1, 28, 28}},
                                      {"lenet5", {1, 32, 32}}})
    for (const std::int64_t batch : {1, 16, 37, 64, 128})
      for (const int threads : {1, 2}) {
        Training training({.model = model, .sample = sample, .batch = batch, .threads = threads});
        const MemoryPlan& plan = training.program().memory();
        EXPECT_LE(static_cast<double>(plan.arena_bytes), 1.1 * static_cast<double>(plan.live_bytes))
            << model << ", batch " << batch << ", " << threads << " threads";
      }
}

// Sums of a thousand floats in another order; relative to the largest element of the gradient.
TEST(Backends, CpuTrainsLikeTheReference) {
  for (const char* model : {"mlp", "lenet"}) {
    const auto first = [&](const char* backend, int threads) {
      Training training({.model = model, .batch = 8, .backend = backend, .threads = threads});
      const double loss = training.step().loss;
      return std::pair(loss, training.gradient());
    };
    const auto [expected_loss, expected] = first("reference", 1);
    for (const int threads : {1, 2}) {
      const auto [loss, gradient] = first("cpu", threads);
      EXPECT_NEAR(loss, expected_loss, 1e-5 * std::abs(expected_loss)) << model;
      EXPECT_LE(test::relative_difference(gradient, expected), 1e-4) << model;
    }
  }
}

}  // namespace
}  // namespace tutti
