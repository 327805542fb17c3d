// SPDX-License-Identifier: Apache-2.0
// Runs a schedule on symbols: a value is the list of summands in it, each the rank and element it
// came from. Shows what every element of every rank is at the end, for all inputs at once.
#pragma once

#include "tutti/comm/collectives/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tutti::collectives {

struct Symbol {
  int rank = 0;
  std::int64_t element = 0;
  auto operator<=>(const Symbol&) const = default;
};
// Sorted: sums in any order are equal.
using Sum = std::vector<Symbol>;

class SymbolicRun final : public Visitor {
 public:
  explicit SymbolicRun(const Schedule& schedule) : memory_(schedule.ranks.size()) {
    for (std::size_t rank = 0; rank < memory_.size(); ++rank)
      for (const Action& action : schedule.ranks[rank]) expect_order(schedule.ranks[rank], action);
    walk(schedule, *this);
  }

  // What is there at the end; an element that nobody wrote is itself.
  const Sum& at(int rank, std::int64_t element) {
    auto& memory = memory_[static_cast<std::size_t>(rank)];
    return memory.try_emplace(element, Sum{{rank, element}}).first->second;
  }

  void message(int from, int to, const Action& out, const Action& in) override {
    std::vector<Sum>& arrived = arrived_[&in];
    for (std::int64_t i = out.segment.begin; i < out.segment.end; ++i)
      arrived.push_back(at(from, i));
    ++messages;
    elements += out.segment.count();
    (void)to;
  }

  void phase(int rank, const Action* begin, const Action* end) override {
    expect_apart(begin, end);
    for (const Action* action = begin; action != end; ++action) {
      if (action->kind == Action::send) continue;
      for (std::int64_t i = 0; i < action->segment.count(); ++i) {
        const Sum in = action->is_message() ? arrived_[action][static_cast<std::size_t>(i)]
                                            : at(rank, action->from + i);
        const bool adds = action->kind == Action::add || action->kind == Action::receive_add;
        put(rank, action->segment.begin + i, in, adds);
      }
    }
  }

  std::int64_t messages = 0, elements = 0;  // sent by all ranks

 private:
  void put(int rank, std::int64_t element, const Sum& in, bool adds) {
    Sum sum = adds ? at(rank, element) : Sum();
    sum.insert(sum.end(), in.begin(), in.end());
    std::sort(sum.begin(), sum.end());
    memory_[static_cast<std::size_t>(rank)][element] = std::move(sum);
  }

  static bool overlap(const Part& a, const Part& b) { return a.begin < b.end && b.begin < a.end; }

  // While a step is under way nothing is written that another of its messages reads or writes;
  // additions come after.
  static void expect_apart(const Action* begin, const Action* end) {
    for (const Action* one = begin; one != end; ++one)
      for (const Action* other = begin; other != end; ++other)
        if (one != other && one->kind == Action::receive && other->is_message()) {
          EXPECT_FALSE(overlap(one->segment, other->segment)) << "in phase " << one->phase;
        }
  }

  static void expect_order(const Actions& actions, const Action& action) {
    if (&action != actions.data()) {
      EXPECT_LE((&action)[-1].phase, action.phase) << "phases follow each other";
    }
  }

  std::vector<std::map<std::int64_t, Sum>> memory_;  // by rank
  std::map<const Action*, std::vector<Sum>> arrived_;
};

// x0[element] + x1[element] + …
inline Sum sum_over_ranks(int ranks, std::int64_t element) {
  Sum sum;
  for (int rank = 0; rank < ranks; ++rank) sum.push_back({rank, element});
  return sum;
}

}  // namespace tutti::collectives
