// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/self.h"

#include "tutti/comm/collectives/collective.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Self, IsOneRankWithNobodyToWaitFor) {
  const auto comm = self_communicator();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  comm->barrier();
  comm->check_aborted();
}

TEST(Self, HasNobodyToSendTo) {
  const auto comm = self_communicator();
  int value = 0;
  EXPECT_THROW(comm->send(&value, sizeof value, 0, 0), Error);
  EXPECT_THROW(comm->receive(&value, sizeof value, 0, 0), Error);
}

TEST(Self, AllreducesCompleteAtOnceAndChangeNothing) {
  const auto comm = self_communicator();
  for (const Collective& collective : allreduces()) {
    if (!collective.supports(comm->facts())) continue;
    for (const bool fixed_order : {false, true}) {
      float data[3] = {1, 2, 3};
      const auto operation = collective.make(*comm, {DType::f32, 3, 0, fixed_order});
      operation->start(data);
      EXPECT_TRUE(operation->advance()) << collective.name;
      EXPECT_EQ(data[0] + 10 * data[1] + 100 * data[2], 321);
    }
  }
}

}  // namespace
}  // namespace tutti
