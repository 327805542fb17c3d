// SPDX-License-Identifier: Apache-2.0
// Waits that last too long end in a message that says who does what.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tutti {
namespace {

void sum(Communicator& comm, const char* algorithm, int tag, std::int64_t count, const char* what) {
  std::vector<float> data(count, 1);
  const auto operation =
      allreduces().find(algorithm).make(comm, {.count = count, .tag = tag, .what = what});
  operation->start(data.data());
  wait(*operation, comm);
}

TEST(Patience, ACollectiveThatARankNeverEntersIsNamed) {
  for (const char* algorithm : {"direct", "ring", "tree"})
    expect_error(
        [&] {
          run_ranks(3, [&](Communicator& comm) {
            comm.set_patience(0.2);
            if (comm.rank() == 1) {
              comm.set_doing("convolution of conv1");
              for (;; std::this_thread::yield()) comm.check_aborted();
            }
            sum(comm, algorithm, 7, 10, "allreduce_block of conv1 (tag 7, 40 bytes)");
          });
        },
        {"it has waited 0.2 s for allreduce_block of conv1 (tag 7, 40 bytes)",
         "rank 1 is in convolution of conv1"});
}

TEST(Patience, RanksInDifferentCollectivesAreNamed) {
  expect_error(
      [&] {
        run_ranks(2, [&](Communicator& comm) {
          comm.barrier();  // both then wait at the same time
          comm.set_patience(0.2);
          if (comm.rank() == 0)
            sum(comm, "ring", 7, 10, "allreduce_block of conv1 (tag 7, 40 bytes)");
          else
            sum(comm, "ring", 8, 10, "allreduce_block of conv2 (tag 8, 40 bytes)");
        });
      },
      {"it has waited 0.2 s for allreduce_block of", "waits for allreduce_block of"});
}

// Another number of elements may mean another algorithm, whose messages never meet.
TEST(Patience, AnotherAlgorithmOnOneRankIsFound) {
  expect_error(
      [&] {
        run_ranks(3, [&](Communicator& comm) {
          comm.set_patience(0.2);
          if (comm.rank() == 0)
            sum(comm, "butterfly", 7, 10, "allreduce_block of conv1 (tag 7, 40 bytes)");
          else
            sum(comm, "tree", 7, 100000, "allreduce_block of conv1 (tag 7, 400000 bytes)");
        });
      },
      {"tag 7"});
}

TEST(Patience, ABarrierAndAMessageEndToo) {
  for (const bool barrier : {true, false})
    expect_error(
        [&] {
          run_ranks(2, [&](Communicator& comm) {
            comm.set_patience(0.2);
            if (comm.rank() == 1) return;
            int word = 0;
            if (barrier) comm.barrier();
            Request request = comm.receive(&word, sizeof word, 1, 0);
            wait(request, comm, "a word of rank 1");
          });
        },
        {barrier ? "the barrier" : "a word of rank 1", "rank 1 is elsewhere"});
}

}  // namespace
}  // namespace tutti
