// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/barrier.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Barrier, CarriesNothing) {
  const Graph graph = graph_of(barrier, {}, {{"axes", std::string("data")}});
  EXPECT_TRUE(graph.values.empty());
  EXPECT_FALSE(has_operand(graph.nodes[0]));
  EXPECT_FALSE(barrier.undifferentiable.empty());
}

}  // namespace
}  // namespace tutti::ops
