// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/world.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tutti::sim {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

World::World(int ranks, const SimulatedMachine& machine)
    : activities(static_cast<std::size_t>(ranks)),
      machine_(machine),
      ports_(ranks, machine.network),
      ranks_(static_cast<std::size_t>(ranks)),
      turns_(static_cast<std::size_t>(ranks)) {
  for (const Fault& fault : machine.faults)
    if (fault.rank >= ranks || fault.to >= ranks)
      throw Error("simulation.faults names rank {}, but the job has ranks 0 to {}",
                  std::max(fault.rank, fault.to), ranks - 1);
}

// The last to come begins with rank 0, so that the start does not depend on the threads.
void World::enter(int rank) {
  std::unique_lock lock(mutex_);
  if (++entered_ == ranks()) {
    turn_ = 0;
    at(0).wakes = never;
    turns_[0].notify_one();
  }
  turns_[static_cast<std::size_t>(rank)].wait(lock, [&] { return turn_ == rank; });
}

void World::leave(int rank) {
  at(rank).ended = true;
  at(rank).wakes = never;
  pass_turn();
}

void World::sleep(int rank, double until) {
  at(rank).wakes = until;
  pass_turn();
  {
    std::unique_lock lock(mutex_);
    turns_[static_cast<std::size_t>(rank)].wait(lock, [&] { return turn_ == rank; });
  }
  strike(rank);
}

void World::wake_all() {
  for (Rank& rank : ranks_)
    if (!rank.ended) rank.wakes = std::min(rank.wakes, now_);
}

void World::pass_turn() {
  const int rank = next();
  const std::lock_guard lock(mutex_);
  turn_ = rank;
  if (rank >= 0) turns_[static_cast<std::size_t>(rank)].notify_one();
}

// The rank that goes on, at now(); -1 when all have ended.
int World::next() {
  while (true) {
    int first = -1;
    for (int rank = 0; rank < ranks(); ++rank)
      if (!at(rank).ended && (first < 0 || at(rank).wakes < at(first).wakes)) first = rank;
    if (first < 0) return -1;
    // What arrives at this moment has arrived when the rank looks.
    if (!events_.empty() && events_.next_seconds() <= at(first).wakes) {
      now_ = std::max(now_, events_.next_seconds());
      deliver(events_.take());
    } else if (at(first).wakes == never) {
      give_up();
    } else {
      now_ = std::max(now_, at(first).wakes);
      at(first).wakes = never;
      return first;
    }
  }
}

Letter* World::new_letter(const Letter& like) {
  if (free_.empty()) free_.push_back(&letters_.emplace_back());
  Letter* letter = free_.back();
  free_.pop_back();
  *letter = like;
  return letter;
}

Letter* World::remind(int rank, double then) {
  Letter* letter = new_letter({.from = rank, .to = rank});
  events_.add(then, letter);
  return letter;
}

Letter* World::offer(const Letter& end) {
  std::deque<Letter*>& queue = offers_[{end.from, end.to, end.tag}];
  const bool sends = end.source != nullptr;
  if (queue.empty() || (queue.front()->source != nullptr) == sends) {
    queue.push_back(new_letter(end));
    return queue.back();
  }
  Letter* letter = queue.front();
  queue.pop_front();
  if (letter->bytes != end.bytes)
    throw Error("rank {} sends {} bytes with tag {} to rank {}, which expects {} bytes", end.from,
                sends ? end.bytes : letter->bytes, end.tag, end.to,
                sends ? letter->bytes : end.bytes);
  if (sends)
    letter->source = end.source;
  else
    letter->target = end.target;
  ++letter->users;
  send_off(letter);
  return letter;
}

void World::send_off(Letter* letter) {
  const int from = letter->from, to = letter->to;
  const std::int64_t number = ++sent_[{from, to}];
  double arrives = ports_.pass(from, to, static_cast<double>(letter->bytes), now_);
  for (const Fault& fault : machine_.faults) {
    if (fault.cuts(from, to) && now_ >= fault.seconds) {
      lost_ = fmt::format("; nothing passes between rank {} and rank {} since {:g} s", fault.rank,
                          fault.to, fault.seconds);
      return;
    }
    if (!fault.of_one_message() || fault.rank != from || fault.to != to || fault.number != number)
      continue;
    if (fault.kind == Fault::corrupt) letter->corrupt = true;
    if (fault.kind == Fault::delay) arrives += fault.seconds;
    if (fault.kind == Fault::drop) {
      lost_ += fmt::format("; message {} from rank {} to rank {} (tag {}, {} bytes) was dropped",
                           number, from, to, letter->tag, letter->bytes);
      return;
    }
  }
  events_.add(arrives, letter);
}

void World::deliver(Letter* letter) {
  Rank &from = at(letter->from), &to = at(letter->to);
  if (!from.closed && !to.closed && letter->bytes > 0)
    std::memcpy(letter->target, letter->source, static_cast<std::size_t>(letter->bytes));
  if (letter->corrupt && !to.closed && letter->bytes > 0)
    static_cast<std::byte*>(letter->target)[std::min<std::int64_t>(2, letter->bytes - 1)] ^=
        std::byte{64};
  letter->arrived = true;
  if (!from.ended && !from.hangs) from.wakes = std::min(from.wakes, now_);
  if (!to.ended && !to.hangs) to.wakes = std::min(to.wakes, now_);
}

void World::forget(Letter* letter) {
  if (--letter->users == 0) free_.push_back(letter);
}

// A fault whose time has come. Of a rank that hangs nothing is heard until the job has failed.
void World::strike(int rank) {
  for (const Fault& fault : machine_.faults) {
    if (fault.rank != rank || now_ < fault.seconds || failed_ >= 0) continue;
    if (fault.kind == Fault::crash)
      throw Error("it crashes at {:g} s of virtual time (simulation.faults)", fault.seconds);
    if (fault.kind == Fault::hang && !at(rank).hangs) {
      at(rank).hangs = true;
      while (failed_ < 0) sleep(rank, never);
    }
  }
}

// Nothing can happen any more: says who waits for what.
void World::give_up() {
  check(failed_ < 0, "ranks of a job that has failed end");
  std::string others;
  int waiting = -1;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (waiting < 0 && !at(rank).ended && !at(rank).hangs)
      waiting = rank;
    else
      others += fmt::format("; rank {} {}", rank,
                            at(rank).ended   ? "has ended"
                            : at(rank).hangs ? "hangs (simulation.faults)"
                                             : activities[static_cast<std::size_t>(rank)].text());
  }
  const int rank = std::max(waiting, 0);
  abort(rank, fmt::format("it {} for ever, since nothing can happen any more at {:g} s of virtual "
                          "time{}{}",
                          activities[static_cast<std::size_t>(rank)].text(), now_, others, lost_));
}

void World::abort(int rank, const std::string& why) {
  if (failed_ < 0) failed_ = rank, why_ = why;
  wake_all();
}

void World::check_aborted() const {
  if (failed_ >= 0) throw Aborted(failed_, why_);
}

}  // namespace tutti::sim
