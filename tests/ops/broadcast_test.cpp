// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/broadcast.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Broadcast, KeepsTheType) {
  const Type type{DType::f64, {2, 3}};
  EXPECT_EQ(graph_of(broadcast, {type}, {{"axes", std::string("data")}}).type(1), type);
  EXPECT_FALSE(broadcast.undifferentiable.empty());
}

}  // namespace
}  // namespace tutti::ops
