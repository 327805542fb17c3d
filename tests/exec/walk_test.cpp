// SPDX-License-Identifier: Apache-2.0
// Walks through lists that are written out.
#include "tutti/exec/walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace tutti {
namespace {

using Next = Walk::Next;

// Two nodes compute and start a sum each (messages 0 and 1); two moves wait for these and update.
// A run that leaves them looks behind node 1 and node 3; in the next, the second is due before node
// 0 and the first before node 2. A run may leave its own from behind node 0 on.
Instructions two_updates(bool waits_usefully = false) {
  using I = Instruction;
  Instructions made;
  made.list = {{I::due, false, 1},
               {I::compute, false, 0},
               {I::due, false, 0},
               {I::postpone, false, 0},
               {I::compute, false, 1},
               {I::start, false, 0},
               {I::look, false, 0},
               {I::compute, false, 2},
               {I::start, false, 1},
               {I::look, false, 0},
               {I::compute, false, 3},
               // the update, from 11 on
               {I::wait, false, 0},
               {I::compute, false, 4},
               {I::wait, false, 1},
               {I::compute, false, 5}};
  made.places = {0, 4, 7, 10, 11, 13, 15};
  made.nodes = {6, 7};
  made.moves = {{11, 13, 6, {}}, {13, 15, 9, {}}};
  made.first_update = 11;
  made.end = 15;
  made.waits_usefully = waits_usefully;
  return made;
}

// What a run does: "c0" computes node 0, "s" starts, "w" waits for, "?" any message; a ' marks what
// the run before has left. Messages in `ready` are.
std::string run(Walk& walk, const std::set<int>& ready = {}) {
  std::string done;
  for (int guard = 0; guard < 100; ++guard) {
    const Next next = walk.next([&](int message) { return ready.count(message) > 0; });
    if (next.kind == Next::end) return done;
    if (next.kind == Next::wait_any) return done + "?";
    const char* letter = next.kind == Next::compute ? "c" : next.kind == Next::start ? "s" : "w";
    done += fmt::format("{}{}{} ", letter, next.subject, next.of_step_before ? "'" : "");
  }
  return done + "for ever";
}

TEST(Walk, GoesThroughAllAndWaitsForTheRest) {
  const Instructions list = two_updates();
  Walk walk(list);
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(walk.begin(0, 6));
    EXPECT_EQ(run(walk), "c0 c1 s0 c2 s1 c3 w0 c4 w1 c5 w0 w1 ");
    EXPECT_FALSE(walk.has_postponed());
  }
}

TEST(Walk, WhatIsLeftIsDoneWhenItIsDueC03) {
  const Instructions list = two_updates();
  Walk walk(list);
  EXPECT_TRUE(walk.begin(0, 6, true));
  EXPECT_EQ(run(walk), "c0 c1 s0 c2 s1 c3 ");
  EXPECT_TRUE(walk.has_postponed());
  walk.begin(0, 6, true);
  EXPECT_EQ(run(walk), "w1' c5' c0 w0' c4' c1 s0 c2 s1 c3 ");
  walk.begin_finish();
  EXPECT_EQ(run(walk), "w0' c4' w1' c5' w0 w1 ");
  EXPECT_FALSE(walk.has_postponed());
}

// What is there when the rank looks is done in its own run, and not again.
TEST(Walk, SumsThatAreThereAreUsedAtOnceC03) {
  const Instructions list = two_updates();
  Walk walk(list);
  walk.begin(0, 6, true);
  EXPECT_EQ(run(walk, {0, 1}), "c0 c1 s0 w0 c4 c2 s1 w1 c5 c3 ");
  EXPECT_FALSE(walk.has_postponed());
  walk.begin(0, 6, true);
  EXPECT_EQ(run(walk, {0}), "c0 c1 s0 w0 c4 c2 s1 c3 ");
  walk.begin(0, 6);
  EXPECT_EQ(run(walk), "w1' c5' c0 c1 s0 c2 s1 c3 w0 c4 w1 c5 w0 w1 ");
}

// A rank that would wait for one does another first, or asks for any.
TEST(Walk, WaitsUsefully) {
  const Instructions list = two_updates(/*waits_usefully=*/true);
  Walk walk(list);
  walk.begin(0, 6, true);
  run(walk);
  walk.begin(0, 6, true);
  EXPECT_EQ(run(walk), "?");
  EXPECT_EQ(run(walk, {0}), "w0' c4' ?");
  EXPECT_EQ(run(walk, {1}), "w1' c5' c0 c1 s0 c2 s1 w1 c5 c3 ");
}

TEST(Walk, AListWithoutMovesLeavesNothing) {
  Instructions list = two_updates();
  list.moves.clear();
  std::erase_if(list.list, [](const Instruction& one) { return one.kind == Instruction::due; });
  Walk walk(list);
  EXPECT_FALSE(walk.begin(4, 6, true));
  EXPECT_FALSE(walk.has_postponed());
}

TEST(Walk, PartsOfAListAreRunAlone) {
  const Instructions list = two_updates();
  Walk walk(list);
  walk.begin(1, 3);
  EXPECT_EQ(run(walk), "c1 s0 c2 s1 ");
  walk.begin(4, 6);
  EXPECT_EQ(run(walk), "w0 c4 w1 c5 w0 w1 ");
}

}  // namespace
}  // namespace tutti
