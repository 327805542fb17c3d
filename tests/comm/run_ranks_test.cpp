// SPDX-License-Identifier: Apache-2.0
// A rank that fails ends the job, wherever the others wait, with one message.
#include "tutti/comm/threads/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

namespace tutti {
namespace {

// The error of a job of three ranks in which rank 1 throws while the others are in `wait_forever`.
std::string failure_while(const std::function<void(Communicator&)>& wait_forever) {
  const auto start = std::chrono::steady_clock::now();
  std::string what = "no error";
  try {
    run_ranks(3, [&](Communicator& comm) {
      if (comm.rank() == 1) throw Error("no such file");
      wait_forever(comm);
    });
  } catch (const Error& error) {
    what = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  return what;
}

TEST(RunRanks, EveryRankRunsOnce) {
  for (const int ranks : {1, 2, 9}) {
    std::atomic<int> sum = 0;
    run_ranks(ranks, [&](Communicator& comm) { sum += 1 << comm.rank(); });
    EXPECT_EQ(sum, (1 << ranks) - 1);
  }
}

TEST(RunRanks, AFailureEndsABarrier) {
  EXPECT_EQ(failure_while([](Communicator& comm) { comm.barrier(); }),
            "rank 1 failed: no such file");
}

TEST(RunRanks, AFailureEndsAReceive) {
  EXPECT_EQ(failure_while([](Communicator& comm) {
              int value = 0;
              Request request = comm.receive(&value, sizeof value, 1, 0);
              wait(request, comm);
            }),
            "rank 1 failed: no such file");
}

TEST(RunRanks, AFailureEndsASend) {
  EXPECT_EQ(failure_while([](Communicator& comm) {
              int value = 0;
              Request request = comm.send(&value, sizeof value, 1, 0);
              wait(request, comm);
            }),
            "rank 1 failed: no such file");
}

TEST(RunRanks, WhatIsThrownBecauseOfAnAbortDoesNotHideIt) {
  EXPECT_EQ(failure_while([](Communicator& comm) {
              try {
                comm.barrier();
              } catch (const Error& error) {
                throw Error("cleaning up: {}", error.what());
              }
            }),
            "rank 1 failed: no such file");
}

TEST(RunRanks, AnyExceptionCounts) {
  EXPECT_THROW(run_ranks(2,
                         [](Communicator& comm) {
                           if (comm.rank() == 0) throw 7;
                           comm.barrier();
                         }),
               Aborted);
}

TEST(RunRanks, ASingleRankKeepsItsError) {
  try {
    run_ranks(1, [](Communicator&) { throw Error("no such file"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no such file");
  }
}

}  // namespace
}  // namespace tutti
