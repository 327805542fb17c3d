// SPDX-License-Identifier: Apache-2.0
// What is special about direct: it needs shared memory and is preferred where there is some.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/threads/threads.h"

#include "comm/counting_communicator.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Direct, NeedsSharedMemory) {
  const auto threads = thread_communicators(2);
  CountingCommunicator comm(*threads[0]);
  EXPECT_TRUE(collectives::direct().supports(threads[0]->facts()));
  EXPECT_FALSE(collectives::direct().supports(comm.facts()));
  try {
    collectives::direct().make(comm, {DType::f32, 1, 0, false});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "allreduce 'direct' needs ranks that share memory; use 'ring'");
  }
}

TEST(Direct, IsPreferredWhereThereIsSharedMemory) {
  const auto threads = thread_communicators(2);
  CountingCommunicator comm(*threads[0]);
  EXPECT_EQ(choose(allreduces(), "auto", *threads[0], {.count = 1}).name, "direct");
  EXPECT_NE(choose(allreduces(), "auto", comm, {.count = 1}).name, "direct");
}

TEST(Direct, PredictsTwoMeetingsAndTheLeastVolume) {
  // 2 · 1 µs + 2 · 7/8 · 1,000,000 · 0.1 ns
  EXPECT_NEAR(collectives::direct().seconds(LinkCost{1e-6, 1e-10}, 8, 1000000, false), 177e-6,
              1e-12);
}

TEST(Direct, StartsAgainOnlyWhenComplete) {
  const auto threads = thread_communicators(2);
  float data = 1;
  const auto operation = collectives::direct().make(*threads[0], {DType::f32, 1, 0, false});
  operation->start(&data);
  EXPECT_FALSE(operation->advance());
  EXPECT_THROW(operation->start(&data), std::logic_error);
}

}  // namespace
}  // namespace tutti
