// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/carry_state.h"

#include "tutti/graph/carried.h"
#include "tutti/graph/verify.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/relu.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct Carrying {
  Graph graph;
  ValueId first = state("first", {4, 3}), second = state("second", {4, 5});

  ValueId state(const char* name, const Shape& shape) {
    graph.carried.push_back({.state = graph.add_value(name, {DType::f32, shape})});
    return graph.carried.back().state;
  }
};

TEST(CarryState, StatesLieBehindEachOther) {
  Carrying made;
  place_carried(made.graph);
  EXPECT_EQ(made.graph.value(made.first).place, (Place{Base::carried, 0}));
  EXPECT_EQ(made.graph.value(made.second).place, (Place{Base::carried, 64}));
  EXPECT_EQ(carried_table(made.graph).count(), 48) << "each begins at a multiple of 16";
}

// Whoever reads the old state does so before the new one takes its place, also when it is told so
// late as the backward pass.
TEST(CarryState, TheNextTakesItsPlaceAtTheEnd) {
  Carrying made;
  place_carried(made.graph);
  made.graph.carried[1].next = made.graph.add1(ops::relu, {made.second});
  made.graph.add1(ops::bias_grad, {made.second});
  carry_state(made.graph);
  verify(made.graph, "carry");
  ASSERT_EQ(made.graph.nodes.size(), 3U) << "the first state stays as it is";
  const Value& left = made.graph.value(made.graph.nodes.back().outputs[0]);
  EXPECT_EQ(left.place, made.graph.value(made.second).place);
}

TEST(CarryState, MustStayAlike) {
  Carrying made;
  place_carried(made.graph);
  made.graph.carried[0].next = made.graph.add1(ops::bias_grad, {made.first});
  expect_error([&] { carry_state(made.graph); }, {"'first' is f32 4×3", "f32 3"});
}

}  // namespace
}  // namespace tutti
