// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/walk.h"

#include "tutti/core/error.h"

#include <algorithm>

namespace tutti {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Walk::Walk(const Instructions& instructions)
    : all_(&instructions),
      postponed_(instructions.moves.size()),
      under_way_(instructions.nodes.size()) {}

bool Walk::begin(NodeId begin, NodeId end, bool postpone) {
  place_ = all_->places[at(begin)];
  end_ = all_->places[at(end)];
  postpones_ = postpone && all_->may_postpone();
  drains_ = !postpones_ && end_ == all_->end;
  move_ = -1;
  postponed_own_ = false;
  return postpones_;
}

void Walk::begin_finish() {
  place_ = end_ = all_->end;
  drains_ = true;
  move_ = -1;
  postpones_ = postponed_own_ = false;
}

// Counts all moves of this run as postponed, until they are done.
void Walk::postpone_moves() {
  check(postponed_count_ == 0,
        "what one run has postponed is done before the next postpones anything");
  postponed_.assign(postponed_.size(), true);
  postponed_count_ = static_cast<int>(postponed_.size());
  postponed_own_ = true;
}

// Whether a move needs no message that is not there, and no other postponed move.
bool Walk::need_not_wait(int move, const IsReady& is_ready) const {
  const Move& own = all_->moves[at(move)];
  return std::none_of(own.behind.begin(), own.behind.end(),
                      [&](int other) { return postponed_[at(other)]; }) &&
         first_unready(move, is_ready) < 0;
}

// The first message that a move waits for; -1: none.
int Walk::first_unready(int move, const IsReady& is_ready) const {
  const Move& own = all_->moves[at(move)];
  for (int place = own.begin; place < own.end; ++place) {
    const Instruction& one = all_->list[at(place)];
    if (one.kind == Instruction::wait && !one.complete && under_way_[at(one.subject)] &&
        !is_ready(one.subject))
      return one.subject;
  }
  return -1;
}

// A postponed move that may be done at this place and need not wait; -1: there is none.
int Walk::ready_move(int place, const IsReady& is_ready) const {
  for (std::size_t move = 0; move < postponed_.size(); ++move)
    if (postponed_[move] && all_->moves[move].earliest <= place &&
        need_not_wait(static_cast<int>(move), is_ready))
      return static_cast<int>(move);
  return -1;
}

// Does a move now; then the walk goes on at its present place.
void Walk::enter(int move) {
  postponed_[at(move)] = false;
  --postponed_count_;
  move_ = move;
  back_ = place_;
  place_ = all_->moves[at(move)].begin;
}

// Whether there is nothing more but messages to wait for. Goes back from a move that is done, and
// past an update that is postponed.
bool Walk::comes_to_end() {
  if (move_ >= 0) {
    if (place_ < all_->moves[at(move_)].end) return false;
    move_ = -1;
    place_ = back_;
  }
  if (place_ == all_->first_update && postpones_) {
    place_ = all_->end;
    end_ = static_cast<int>(all_->list.size());
  }
  return place_ == end_;
}

// What to do at the end of all instructions; none: a move was entered.
std::optional<Walk::Next> Walk::drain() {
  if (!drains_) return Next{};
  if (postponed_count_ > 0) {
    enter(static_cast<int>(std::find(postponed_.begin(), postponed_.end(), true) -
                           postponed_.begin()));
    return std::nullopt;
  }
  const auto found = std::find(under_way_.begin(), under_way_.end(), true);
  if (found == under_way_.end()) return Next{};
  *found = false;
  return Next{Next::wait, static_cast<int>(found - under_way_.begin()), true};
}

// What to do at the `due` of a move; none: the move was done already, or it or another was entered.
std::optional<Walk::Next> Walk::catch_up(int move, const IsReady& is_ready) {
  if (!postponed_[at(move)]) {
    ++place_;
    return std::nullopt;
  }
  if (!all_->waits_usefully || need_not_wait(move, is_ready)) {
    enter(move);
    return std::nullopt;
  }
  if (const int other = ready_move(all_->end, is_ready); other >= 0) {
    enter(other);
    return std::nullopt;
  }
  return Next{Next::wait_any, std::max(0, first_unready(move, is_ready))};
}

std::optional<Walk::Next> Walk::take(const Instruction& now, const IsReady& is_ready) {
  if (now.kind == Instruction::due) return catch_up(now.subject, is_ready);
  if (now.kind == Instruction::look) {
    if (const int other = postpones_ ? ready_move(place_, is_ready) : -1; other >= 0)
      enter(other);
    else
      ++place_;
    return std::nullopt;
  }
  ++place_;
  if (now.kind == Instruction::postpone) {
    if (postpones_) postpone_moves();
    return std::nullopt;
  }
  const bool of_step_before = move_ >= 0 && !postponed_own_;
  if (now.kind == Instruction::compute)
    return Next{Next::compute, now.subject, false, of_step_before};
  if (now.kind == Instruction::start) {
    under_way_[at(now.subject)] = true;
    return Next{Next::start, now.subject, false, of_step_before};
  }
  if (!under_way_[at(now.subject)]) return std::nullopt;
  if (now.complete) under_way_[at(now.subject)] = false;
  return Next{Next::wait, now.subject, now.complete, of_step_before};
}

Walk::Next Walk::next(const IsReady& is_ready) {
  while (true) {
    const std::optional<Next> next =
        comes_to_end() ? drain() : take(all_->list[at(place_)], is_ready);
    if (next) return *next;
  }
}

}  // namespace tutti
