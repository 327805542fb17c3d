// SPDX-License-Identifier: Apache-2.0
// Every entry of reduces(): 1 to 9 ranks, sizes 0, 1, odd and large, fixed order, and how near sums
// of floats come (D01).
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"

#include "contract/collective_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

class Reduces : public testing::TestWithParam<std::string> {
 protected:
  // What rank 0 has in the end.
  template <class T, class Value>
  std::vector<T> reduced(int ranks, std::int64_t count, bool fixed_order, Value value) const {
    std::vector<T> result;
    run_ranks(ranks, [&](Communicator& comm) {
      std::vector<T> data = vector_of<T>(comm.rank(), count, value);
      const auto operation =
          collective.make(comm, {sizeof(T) == 8 ? DType::f64 : DType::f32, count, 3, fixed_order});
      operation->start(data.data());
      wait(*operation, comm);
      if (comm.rank() == 0) result = data;
    });
    return result;
  }
  const Collective collective = reduces().find(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, Reduces, testing::ValuesIn(reduces().names()),
                         [](const auto& test) { return test.param; });

TEST_P(Reduces, GiveRankZeroTheSerialSum_D01) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const std::int64_t count : counts) {
      const auto whole_sum = sum_in_rank_order<float>(ranks, count, whole<float>);
      EXPECT_EQ(reduced<float>(ranks, count, false, whole<float>), whole_sum);
      const auto in_order = sum_in_rank_order<double>(ranks, count, rough<double>);
      EXPECT_EQ(reduced<double>(ranks, count, true, rough<double>), in_order);
    }
}

TEST_P(Reduces, OfFloatsAreWithinNEpsilonAndTheSameEachTime_D01) {
  constexpr std::int64_t count = 1000;
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const auto sums = reduced<float>(ranks, count, false, rough<float>);
    EXPECT_EQ(reduced<float>(ranks, count, false, rough<float>), sums);
    for (std::int64_t i = 0; i < count; ++i) {
      double exact = 0, absolute = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        exact += rough<float>(rank, i);
        absolute += std::abs(rough<float>(rank, i));
      }
      EXPECT_NEAR(sums[i], exact, ranks * std::numeric_limits<float>::epsilon() * absolute);
    }
  }
}

TEST_P(Reduces, RefuseTypesTheyCannotAdd) {
  run_ranks(1, [&](Communicator& comm) {
    EXPECT_THROW(collective.make(comm, {DType::u8, 10, 0, false}), Error);
  });
}

}  // namespace
}  // namespace tutti
