// SPDX-License-Identifier: Apache-2.0
// Every entry of allreduces(): 1 to 9 ranks, sizes 0, 1, odd and large, all types, fixed order,
// several in flight, restarted many times, and failures of a rank (D02, D04, D07).
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "contract/collective_inputs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

class Allreduces : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!collective.supports(thread_communicators(1).front()->facts()))
      GTEST_SKIP() << "not between threads; tests/mpi has it";
  }
  const Collective collective = allreduces().find(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, Allreduces, testing::ValuesIn(allreduces().names()),
                         [](const auto& test) { return test.param; });

template <class T, class Value>
void expect_serial_sums(const Collective& collective, DType dtype, bool fixed_order, Value value) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::atomic<int> wrong = 0;
    run_ranks(ranks, [&](Communicator& comm) {
      ASSERT_TRUE(collective.supports(comm.facts()));
      for (const std::int64_t count : counts) {
        std::vector<T> data = vector_of<T>(comm.rank(), count, value);
        const auto operation = collective.make(comm, {dtype, count, 3, fixed_order});
        operation->start(data.data());
        wait(*operation, comm);
        const auto expected = sum_in_rank_order<T>(ranks, count, value);
        if (count > 0 && std::memcmp(data.data(), expected.data(), count * sizeof(T)) != 0) ++wrong;
      }
    });
    EXPECT_EQ(wrong, 0) << collective.name << " on " << ranks << " ranks";
  }
}

TEST_P(Allreduces, EqualTheSerialSum_D02_D03_D04_D05) {
  expect_serial_sums<float>(collective, DType::f32, false, whole<float>);
  expect_serial_sums<double>(collective, DType::f64, false, whole<double>);
  expect_serial_sums<Bf16>(collective, DType::bf16, false, whole<Bf16>);
}

TEST_P(Allreduces, FixedOrderIsRankOrderBitForBit) {
  ASSERT_NE(0.1f + 1e8f - 1e8f, 0.1f + (1e8f - 1e8f));
  expect_serial_sums<float>(collective, DType::f32, true, rough<float>);
  expect_serial_sums<double>(collective, DType::f64, true, rough<double>);
  expect_serial_sums<Bf16>(collective, DType::bf16, true, rough<Bf16>);
}

TEST_P(Allreduces, GiveAllRanksTheSameBits_D03) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    std::vector<std::vector<float>> all(ranks);
    run_ranks(ranks, [&](Communicator& comm) {
      constexpr std::int64_t count = 333;
      all[comm.rank()] = vector_of<float>(comm.rank(), count, rough<float>);
      const auto operation = collective.make(comm, {DType::f32, count, 3, false});
      operation->start(all[comm.rank()].data());
      wait(*operation, comm);
    });
    for (const auto& sums : all) EXPECT_EQ(sums, all[0]) << ranks << " ranks";
  }
}

TEST_P(Allreduces, EightInFlightStartedInDifferentOrders_D07) {
  constexpr int in_flight = 8, ranks = 3;
  for (const bool fixed_order : {false, true})
    run_ranks(ranks, [&](Communicator& comm) {
      std::vector<std::vector<double>> data(in_flight);
      std::vector<std::unique_ptr<Operation>> operations;
      for (int k = 0; k < in_flight; ++k)
        operations.push_back(collective.make(comm, {DType::f64, 100 * k + 1, k, fixed_order}));
      for (int round = 0; round < 20; ++round) {
        for (int k = 0; k < in_flight; ++k)
          data[k].assign(100 * k + 1, 1 + comm.rank() + 10 * k + round);
        for (int n = 0; n < in_flight; ++n) {
          const int k = (n * 3 + comm.rank() * 5 + round) % in_flight;
          operations[k]->start(data[k].data());
        }
        for (int n = 0; n < in_flight; ++n) {
          const int k = (n * 5 + comm.rank()) % in_flight;
          wait(*operations[k], comm);
        }
        for (int k = 0; k < in_flight; ++k)
          ASSERT_EQ(data[k], std::vector<double>(100 * k + 1, 6 + 3 * (10 * k + round)));
      }
    });
}

TEST_P(Allreduces, GoOnWhileTheirRankWaitsForSomethingElse) {
  run_ranks(2, [&](Communicator& comm) {
    std::vector<double> data(100, 1);
    const auto operation = collective.make(comm, {DType::f64, 100, 0, false});
    operation->start(data.data());
    if (comm.rank() == 0) wait(*operation, comm);
    comm.barrier();
    wait(*operation, comm);
    EXPECT_EQ(data, std::vector<double>(100, 2));
  });
}

TEST_P(Allreduces, OneOperationRestartedThousandsOfTimes) {
  for (const bool fixed_order : {false, true})
    run_ranks(2, [&](Communicator& comm) {
      constexpr int count = 37;
      std::vector<float> data(count);
      const auto operation = collective.make(comm, {DType::f32, count, 0, fixed_order});
      for (int round = 0; round < 3000; ++round) {
        for (int i = 0; i < count; ++i) data[i] = static_cast<float>(round + i + comm.rank());
        operation->start(data.data());
        wait(*operation, comm);
        for (int i = 0; i < count; ++i)
          ASSERT_EQ(data[i], static_cast<float>(2 * (round + i) + 1)) << "round " << round;
      }
    });
}

TEST_P(Allreduces, TwoOperationsMayUseOneTagInTurn) {
  run_ranks(3, [&](Communicator& comm) {
    const auto train = collective.make(comm, {DType::f64, 50, 1, false});
    const auto evaluate = collective.make(comm, {DType::f64, 2, 1, false});
    for (int round = 0; round < 10; ++round)
      for (Operation* operation : {train.get(), evaluate.get()}) {
        std::vector<double> data(50, comm.rank());
        operation->start(data.data());
        wait(*operation, comm);
        ASSERT_EQ(data[0], 3);
        ASSERT_EQ(data[49], operation == train.get() ? 3 : comm.rank());
      }
  });
}

TEST_P(Allreduces, AFailingRankEndsTheOthersAndIsNamedOnce) {
  const auto start = std::chrono::steady_clock::now();
  for (const bool before_start : {true, false})
    for (int repeat = 0; repeat < 20; ++repeat) try {
        run_ranks(4, [&](Communicator& comm) {
          std::vector<float> data(5000, 1);
          const auto operation = collective.make(comm, {DType::f32, 5000, 0, false});
          if (comm.rank() == 2 && before_start) throw Error("disk full");
          operation->start(data.data());
          // In flight: peers may be reading `data` right now.
          if (comm.rank() == 2) throw Error("disk full");
          wait(*operation, comm);
          comm.barrier();
        });
        FAIL() << "the error of rank 2 is lost";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "rank 2 failed: disk full");
      }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_P(Allreduces, AnOperationDroppedInFlightAbortsTheJob) {
  try {
    run_ranks(2, [&](Communicator& comm) {
      std::vector<float> data(10, 1);
      const auto operation = collective.make(comm, {DType::f32, 10, 0, false});
      operation->start(data.data());
      if (comm.rank() == 0) wait(*operation, comm);
    });
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 1 failed: it dropped an operation in flight");
  }
}

TEST_P(Allreduces, DifferentSizesOnTwoRanksAreAnError) {
  for (const bool fixed_order : {false, true}) try {
      run_ranks(2, [&](Communicator& comm) {
        std::vector<float> data(20, 1);
        const auto operation =
            collective.make(comm, {DType::f32, comm.rank() == 0 ? 20 : 10, 7, fixed_order});
        operation->start(data.data());
        wait(*operation, comm);
      });
      FAIL() << "the sum of vectors of 20 and 10 elements";
    } catch (const Error& error) {
      for (const char* part : {"rank 0", "rank 1", "tag 7", " bytes"})
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST_P(Allreduces, RefuseTypesTheyCannotAdd) {
  run_ranks(1, [&](Communicator& comm) {
    try {
      collective.make(comm, {DType::u8, 10, 0, false});
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "allreduce adds f32, bf16 or f64, not u8");
    }
  });
}

TEST_P(Allreduces, CostsNothingAloneAndMoreWithMoreBytes) {
  const LinkCost link{1e-6, 1e-10};
  for (const bool fixed_order : {false, true}) {
    EXPECT_EQ(collective.seconds(link, 1, 1 << 20, fixed_order), 0);
    for (int ranks = 2; ranks <= 9; ++ranks) {
      EXPECT_GE(collective.seconds(link, ranks, 0, fixed_order), 1e-6);
      // Never below the bandwidth bound of an allreduce (D06).
      EXPECT_GE(collective.seconds(link, ranks, 1 << 20, fixed_order),
                2.0 * (ranks - 1) / ranks * (1 << 20) * 1e-10);
    }
  }
}

}  // namespace
}  // namespace tutti
