// SPDX-License-Identifier: Apache-2.0
// Every entry of reduce_scatters() and allgathers(), the two halves of an allreduce (D04): 1 to 9
// ranks, sizes 0, 1, odd and large, all types, fixed order, several in flight, restarted many
// times, and failures of a rank.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/part.h"
#include "tutti/comm/threads/threads.h"

#include "contract/collective_inputs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

TEST(Parts, AreWholeLinesThatCoverTheVector) {
  for (const DType dtype : {DType::f32, DType::f64, DType::u8})
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (const std::int64_t count : counts) {
        std::int64_t end = 0, largest = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const Part part = part_of(count, dtype, rank, ranks);
          EXPECT_EQ(part.begin, end);
          EXPECT_GE(part.count(), 0);
          if (part.count() > 0) {
            EXPECT_EQ(part.begin * bytes_of(dtype) % line_bytes, 0);
          }
          largest = std::max(largest, part.count());
          end = part.end;
        }
        EXPECT_EQ(end, count);
        EXPECT_LE(largest, count / ranks + 2 * line_bytes / bytes_of(dtype));
      }
}

TEST(Parts, OfBf16AreThoseOfFloats) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const std::int64_t count : counts)
      for (int rank = 0; rank < ranks; ++rank) {
        const Part floats = part_of(count, DType::f32, rank, ranks);
        const Part rounded = part_of(count, DType::bf16, rank, ranks);
        EXPECT_EQ(rounded.begin, floats.begin);
        EXPECT_EQ(rounded.end, floats.end);
      }
}

class ReduceScatters : public testing::TestWithParam<std::string> {
 protected:
  const Collective collective = reduce_scatters().find(GetParam());
};

class Allgathers : public testing::TestWithParam<std::string> {
 protected:
  const Collective collective = allgathers().find(GetParam());
};

const auto name_of_test = [](const auto& test) { return test.param; };
INSTANTIATE_TEST_SUITE_P(All, ReduceScatters, testing::ValuesIn(reduce_scatters().names()),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(All, Allgathers, testing::ValuesIn(allgathers().names()), name_of_test);

template <class T>
bool same_part(const std::vector<T>& data, const std::vector<T>& expected, const Part& part) {
  return part.count() == 0 || std::memcmp(data.data() + part.begin, expected.data() + part.begin,
                                          static_cast<std::size_t>(part.count()) * sizeof(T)) == 0;
}

template <class T, class Value>
void expect_own_sums(const Collective& collective, DType dtype, bool fixed_order, Value value) {
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
        if (!same_part(data, expected, part_of(count, dtype, comm.rank(), ranks))) ++wrong;
      }
    });
    EXPECT_EQ(wrong, 0) << collective.name << " on " << ranks << " ranks";
  }
}

TEST_P(ReduceScatters, GiveEachRankItsPartOfTheSerialSum_D04) {
  expect_own_sums<float>(collective, DType::f32, false, whole<float>);
  expect_own_sums<double>(collective, DType::f64, false, whole<double>);
  expect_own_sums<Bf16>(collective, DType::bf16, false, whole<Bf16>);
}

TEST_P(ReduceScatters, FixedOrderIsRankOrderBitForBit) {
  expect_own_sums<float>(collective, DType::f32, true, rough<float>);
  expect_own_sums<double>(collective, DType::f64, true, rough<double>);
  expect_own_sums<Bf16>(collective, DType::bf16, true, rough<Bf16>);
}

template <class T>
void expect_all_parts(const Collective& collective, DType dtype) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::atomic<int> wrong = 0;
    run_ranks(ranks, [&](Communicator& comm) {
      ASSERT_TRUE(collective.supports(comm.facts()));
      for (const std::int64_t count : counts) {
        const std::vector<T> expected = vector_of<T>(0, count, rough<T>);
        std::vector<T> data(expected.size(), T(-1));
        const Part own = part_of(count, dtype, comm.rank(), ranks);
        std::copy(expected.begin() + own.begin, expected.begin() + own.end,
                  data.begin() + own.begin);
        const auto operation = collective.make(comm, {dtype, count, 3, false});
        operation->start(data.data());
        wait(*operation, comm);
        if (data != expected) ++wrong;
      }
    });
    EXPECT_EQ(wrong, 0) << collective.name << " on " << ranks << " ranks";
  }
}

TEST_P(Allgathers, GiveEveryRankAllParts_D04) {
  expect_all_parts<float>(collective, DType::f32);
  expect_all_parts<Bf16>(collective, DType::bf16);
}

TEST_P(Allgathers, CarryAnyType) {
  run_ranks(3, [&](Communicator& comm) {
    std::vector<std::uint8_t> data(200, 99);
    const Part own = part_of(200, DType::u8, comm.rank(), 3);
    for (std::int64_t i = own.begin; i < own.end; ++i) data[i] = static_cast<std::uint8_t>(i);
    const auto operation = collective.make(comm, {DType::u8, 200, 0, false});
    operation->start(data.data());
    wait(*operation, comm);
    for (std::int64_t i = 0; i < 200; ++i) ASSERT_EQ(data[i], i);
  });
}

// As in a step: the sums of one block are used while the next ones travel, every rank starts in
// another order, and the whole is an allreduce.
TEST(PartsTogether, EightInFlightStartedInDifferentOrders_D07) {
  constexpr int in_flight = 8, ranks = 3;
  for (const std::string& name : reduce_scatters().names())
    for (const bool fixed_order : {false, true})
      run_ranks(ranks, [&](Communicator& comm) {
        std::vector<std::vector<double>> data(in_flight);
        std::vector<std::unique_ptr<Operation>> scatters, gathers;
        const auto count = [](int k) { return 100 * k + 1; };
        for (int k = 0; k < in_flight; ++k) {
          const CollectiveArgs args{DType::f64, count(k), 2 * k, fixed_order};
          scatters.push_back(reduce_scatters().find(name).make(comm, args));
          gathers.push_back(allgathers()
                                .find(allgathers().has(name) ? name : "ring")
                                .make(comm, {DType::f64, count(k), 2 * k + 1, fixed_order}));
        }
        for (int round = 0; round < 20; ++round) {
          for (int k = 0; k < in_flight; ++k)
            data[k].assign(count(k), 1 + comm.rank() + 10 * k + round);
          for (int n = 0; n < in_flight; ++n) {
            const int k = (n * 3 + comm.rank() * 5 + round) % in_flight;
            scatters[k]->start(data[k].data());
          }
          for (int n = 0; n < in_flight; ++n) {
            const int k = (n * 5 + comm.rank()) % in_flight;
            wait(*scatters[k], comm);
            gathers[k]->start(data[k].data());
          }
          for (int k = 0; k < in_flight; ++k) wait(*gathers[k], comm);
          for (int k = 0; k < in_flight; ++k)
            ASSERT_EQ(data[k], std::vector<double>(count(k), 6 + 3 * (10 * k + round)));
        }
      });
}

TEST_P(ReduceScatters, AResultMayBeReadBeforePeersAreDone) {
  run_ranks(2, [&](Communicator& comm) {
    std::vector<double> data(100, 1 + comm.rank());
    const auto operation = collective.make(comm, {DType::f64, 100, 0, false});
    for (int round = 0; round < 100; ++round) {
      std::fill(data.begin(), data.end(), 1 + comm.rank());
      operation->start(data.data());
      wait_ready(*operation, comm);
      const Part own = part_of(100, DType::f64, comm.rank(), 2);
      for (std::int64_t i = own.begin; i < own.end; ++i) ASSERT_EQ(data[i], 3);
      wait(*operation, comm);
    }
  });
}

// What one list must give holds for the other too.
class BothParts : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  static const List<Collective>& list(const std::string& kind) {
    static const List<Collective> scatters = reduce_scatters(), gathers = allgathers();
    return kind == scatters.kind() ? scatters : gathers;
  }
  const Collective collective = list(GetParam().first).find(GetParam().second);
};

std::vector<std::pair<std::string, std::string>> all_entries() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const List<Collective>& list : {reduce_scatters(), allgathers()})
    for (const std::string& name : list.names()) all.emplace_back(list.kind(), name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, BothParts, testing::ValuesIn(all_entries()), [](const auto& test) {
  return test.param.first + "_" + test.param.second;
});

TEST_P(BothParts, GoOnWhileTheirRankWaitsForSomethingElse) {
  run_ranks(2, [&](Communicator& comm) {
    std::vector<double> data(100, 1);
    const auto operation = collective.make(comm, {DType::f64, 100, 0, false});
    operation->start(data.data());
    if (comm.rank() == 0) wait(*operation, comm);
    comm.barrier();
    wait(*operation, comm);
  });
}

TEST_P(BothParts, OneOperationRestartedThousandsOfTimes) {
  for (const bool fixed_order : {false, true})
    run_ranks(3, [&](Communicator& comm) {
      constexpr int count = 37;
      std::vector<float> data(count);
      const auto operation = collective.make(comm, {DType::f32, count, 0, fixed_order});
      const bool sums = GetParam().first == reduce_scatters().kind();
      const Part own = part_of(count, DType::f32, comm.rank(), 3);
      for (int round = 0; round < 2000; ++round) {
        for (int i = 0; i < count; ++i) {
          const bool mine = i >= own.begin && i < own.end;
          data[i] = static_cast<float>(mine || sums ? round + i : -1);
        }
        operation->start(data.data());
        wait(*operation, comm);
        for (int i = 0; i < count; ++i) {
          if (sums && (i < own.begin || i >= own.end)) continue;
          ASSERT_EQ(data[i], static_cast<float>((sums ? 3 : 1) * (round + i))) << round;
        }
      }
    });
}

TEST_P(BothParts, AFailingRankEndsTheOthersAndIsNamedOnce) {
  for (const bool before_start : {true, false})
    for (int repeat = 0; repeat < 20; ++repeat) try {
        run_ranks(4, [&](Communicator& comm) {
          std::vector<float> data(5000, 1);
          const auto operation = collective.make(comm, {DType::f32, 5000, 0, false});
          if (comm.rank() == 2 && before_start) throw Error("disk full");
          operation->start(data.data());
          if (comm.rank() == 2) throw Error("disk full");  // peers may be reading `data` right now
          wait(*operation, comm);
          comm.barrier();
        });
        FAIL() << "the error of rank 2 is lost";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "rank 2 failed: disk full");
      }
}

TEST_P(BothParts, DifferentSizesOnTwoRanksAreAnError) {
  for (const bool fixed_order : {false, true}) try {
      run_ranks(2, [&](Communicator& comm) {
        std::vector<float> data(20, 1);
        const auto operation =
            collective.make(comm, {DType::f32, comm.rank() == 0 ? 20 : 10, 7, fixed_order});
        operation->start(data.data());
        wait(*operation, comm);
      });
      FAIL() << "vectors of 20 and 10 elements";
    } catch (const Error& error) {
      for (const char* part : {"rank 0", "rank 1", "tag 7", " bytes"})
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST_P(BothParts, CostNothingAloneAndMoreWithMoreBytes) {
  const LinkCost link{1e-6, 1e-10};
  EXPECT_EQ(collective.seconds(link, 1, 1 << 20, false), 0);
  for (int ranks = 2; ranks <= 9; ++ranks) {
    EXPECT_GE(collective.seconds(link, ranks, 0, false), 1e-6);
    // Never below half the bandwidth bound of an allreduce (D06).
    EXPECT_GE(collective.seconds(link, ranks, 1 << 20, false),
              1.0 * (ranks - 1) / ranks * (1 << 20) * 1e-10);
  }
}

TEST_P(ReduceScatters, RefuseTypesTheyCannotAdd) {
  run_ranks(1, [&](Communicator& comm) {
    try {
      collective.make(comm, {DType::u8, 10, 0, false});
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "reduce_scatter adds f32, bf16 or f64, not u8");
    }
  });
}

}  // namespace
}  // namespace tutti
