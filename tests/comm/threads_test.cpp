// SPDX-License-Identifier: Apache-2.0
// Messages, barrier and abort between threads.
#include "tutti/comm/threads/threads.h"

#include "tutti/comm/shared_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tutti {
namespace {

std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Threads, RanksAreNumberedAndKnowTheirNumber) {
  const auto communicators = thread_communicators(3);
  ASSERT_EQ(communicators.size(), 3u);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(communicators[rank]->rank(), rank);
    EXPECT_EQ(communicators[rank]->size(), 3);
  }
  EXPECT_EQ(error_of([] { thread_communicators(0); }), "a job needs at least 1 rank, not 0");
}

TEST(Threads, AMessageArrivesWhole) {
  for (const int count : {0, 1, 1000, 100000})
    run_ranks(2, [&](Communicator& comm) {
      std::vector<int> data(count);
      if (comm.rank() == 0) std::iota(data.begin(), data.end(), 5);
      const auto bytes = static_cast<std::int64_t>(data.size() * sizeof(int));
      Request request = comm.rank() == 0 ? comm.send(data.data(), bytes, 1, 9)
                                         : comm.receive(data.data(), bytes, 0, 9);
      wait(request, comm);
      EXPECT_TRUE(comm.test(request)) << "a complete request stays complete";
      for (int i = 0; i < count; ++i) ASSERT_EQ(data[i], i + 5);
    });
}

TEST(Threads, TagsAreMatchedWhateverTheOrder) {
  run_ranks(2, [&](Communicator& comm) {
    constexpr int tags = 5;
    int values[tags] = {};
    Request requests[tags];
    for (int n = 0; n < tags; ++n) {
      const int tag = comm.rank() == 0 ? n : tags - 1 - n;
      if (comm.rank() == 0) values[tag] = 100 + tag;
      requests[tag] = comm.rank() == 0 ? comm.send(&values[tag], sizeof(int), 1, tag)
                                       : comm.receive(&values[tag], sizeof(int), 0, tag);
    }
    for (Request& request : requests) wait(request, comm);
    for (int tag = 0; tag < tags; ++tag) EXPECT_EQ(values[tag], 100 + tag);
  });
}

// More messages than a channel has slots; the receiver tests them last to first.
TEST(Threads, MessagesOfOneTagKeepTheirOrder) {
  run_ranks(2, [&](Communicator& comm) {
    constexpr int messages = 50;
    std::vector<int> values(messages);
    std::vector<Request> requests;
    for (int n = 0; n < messages; ++n) {
      if (comm.rank() == 0) values[n] = 7 * n;
      requests.push_back(comm.rank() == 0 ? comm.send(&values[n], sizeof(int), 1, 0)
                                          : comm.receive(&values[n], sizeof(int), 0, 0));
    }
    for (int pending = messages; pending > 0;) {
      pending = 0;
      for (int n = messages - 1; n >= 0; --n) pending += !comm.test(requests[n]);
      std::this_thread::yield();
    }
    for (int n = 0; n < messages; ++n) ASSERT_EQ(values[n], 7 * n);
  });
}

TEST(Threads, ASendIsCompleteOnlyWhenReceived) {
  run_ranks(2, [](Communicator& comm) {
    int value = 1;
    if (comm.rank() == 0) {
      Request request = comm.send(&value, sizeof value, 1, 0);
      EXPECT_FALSE(comm.test(request));
      comm.barrier();
      wait(request, comm);
    } else {
      comm.barrier();
      Request request = comm.receive(&value, sizeof value, 0, 0);
      wait(request, comm);
    }
  });
}

TEST(Threads, DifferentSizesAreAnErrorThatNamesThem) {
  EXPECT_EQ(error_of([] {
              run_ranks(2, [](Communicator& comm) {
                char data[16] = {};
                Request request =
                    comm.rank() == 0 ? comm.send(data, 16, 1, 4) : comm.receive(data, 8, 0, 4);
                wait(request, comm);
              });
            }),
            "rank 1 failed: rank 0 sends 16 bytes with tag 4 to rank 1, which expects 8 bytes");
}

TEST(Threads, PeersMustExist) {
  const auto communicators = thread_communicators(2);
  Communicator& comm = *communicators[1];
  int value = 0;
  EXPECT_EQ(error_of([&] { comm.send(&value, 4, 1, 0); }), "rank 1 can't send to itself");
  EXPECT_EQ(error_of([&] { comm.receive(&value, 4, 1, 0); }), "rank 1 can't receive from itself");
  EXPECT_EQ(error_of([&] { comm.send(&value, 4, 2, 0); }),
            "rank 1 can't send to rank 2: the job has ranks 0 to 1");
  EXPECT_EQ(error_of([&] { comm.receive(&value, 4, -1, 0); }),
            "rank 1 can't receive from rank -1: the job has ranks 0 to 1");
}

TEST(Threads, BarrierHoldsEveryoneBack) {
  constexpr int ranks = 9;
  std::atomic<int> arrived = 0;
  run_ranks(ranks, [&](Communicator& comm) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      comm.barrier();
      EXPECT_GE(arrived, round * ranks);
      comm.barrier();
    }
  });
}

TEST(Threads, TheFirstAbortGivesTheReason) {
  const auto communicators = thread_communicators(3);
  communicators[0]->check_aborted();
  communicators[1]->abort("no more memory");
  communicators[2]->abort("came too late");
  for (const auto& communicator : communicators)
    EXPECT_EQ(error_of([&] { communicator->check_aborted(); }), "rank 1 failed: no more memory");
}

// The n-th call of every rank gives the same memory, until all have dropped it.
TEST(Threads, HaveMemoryInCommon) {
  std::array<std::weak_ptr<std::byte>, 2> seen;
  std::atomic<int> allocated = 0;
  run_ranks(3, [&](Communicator& comm) {
    const auto allocate = [&] {
      ++allocated;
      return std::shared_ptr<std::byte>(new std::byte[8], std::default_delete<std::byte[]>());
    };
    const auto first = comm.shared()->common(comm.rank(), allocate);
    const auto second = comm.shared()->common(comm.rank(), allocate);
    EXPECT_NE(first, second);
    if (comm.rank() == 0) seen = {first, second};
    comm.barrier();
    EXPECT_EQ(seen[0].lock(), first);
    EXPECT_EQ(seen[1].lock(), second);
    comm.barrier();
  });
  EXPECT_EQ(allocated, 2);
  EXPECT_TRUE(seen[0].expired() && seen[1].expired());
}

}  // namespace
}  // namespace tutti
