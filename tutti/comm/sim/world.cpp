// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::sim {

World::World(int ranks, const SimulatedMachine& machine, int endpoints)
    : activities(static_cast<std::size_t>(ranks + endpoints)),
      machine_(machine),
      workers_(ranks),
      engine_(ranks, machine.network, machine.law, endpoints),
      ranks_(static_cast<std::size_t>(ranks + endpoints)),
      turns_(static_cast<std::size_t>(ranks + endpoints)) {
  for (const Fault& fault : machine.faults)
    if (fault.rank >= ranks || fault.to >= ranks)
      throw Error("simulation.faults names rank {}, but the job has ranks 0 to {}",
                  std::max(fault.rank, fault.to), ranks - 1);
  for (int rank = 1; rank < ends(); ++rank) engine_.wake(rank, 0);
}

// The thread that enters last gives rank 0 the turn, so that the start does not depend on the
// threads.
void World::enter(int rank) {
  std::unique_lock lock(mutex_);
  if (++entered_ == ends()) {
    turn_ = 0;
    turns_[0].notify_one();
  }
  turns_[static_cast<std::size_t>(rank)].wait(lock, [&] { return turn_ == rank; });
}

void World::leave(int rank) {
  at(rank).ended = true;
  pass_turn();
}

void World::sleep(int rank, double until) {
  engine_.wake(rank, until);
  pass_turn();
  {
    std::unique_lock lock(mutex_);
    turns_[static_cast<std::size_t>(rank)].wait(lock, [&] { return turn_ == rank; });
  }
  strike(rank);
}

void World::wake(int rank) {
  if (!at(rank).ended) engine_.wake(rank, now());
}

void World::wake_all() {
  for (int rank = 0; rank < ends(); ++rank) wake(rank);
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
    const int rank = engine_.next([this](Letter* letter) { deliver(letter); });
    if (rank >= 0 && !at(rank).ended) return rank;
    if (rank >= 0) continue;
    if (std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& one) { return one.ended; }))
      return -1;
    if (!send_all_held()) give_up();
  }
}

Letter* World::new_letter(const Letter& like) {
  if (free_.empty()) free_.push_back(&letters_.emplace_back());
  Letter* letter = free_.back();
  free_.pop_back();
  *letter = like;
  letter->number = ++letters_made_;
  return letter;
}

std::uint64_t World::arrive() {
  const std::uint64_t barrier = barriers;
  if (++arrived_ == ranks()) {
    arrived_ = 0;
    ++barriers;
    wake_all();
  }
  return barrier;
}

const Letter* World::waiting(int rank, int tag) {
  const Letter* first = nullptr;
  for (int from = 0; from < ends(); ++from) {
    const auto found = offers_.find({from, rank, tag});
    if (found == offers_.end() || found->second.empty()) continue;
    const Letter* letter = found->second.front();
    if (letter->source != nullptr && (first == nullptr || letter->number < first->number))
      first = letter;
  }
  if (first == nullptr) listening_.insert({rank, tag});
  return first;
}

Letter* World::remind(int rank, double then) {
  Letter* letter = new_letter({.from = rank, .to = rank});
  engine_.plan(then, letter);
  return letter;
}

std::deque<Letter*>& World::offers_of(const Letter& letter) {
  return offers_[{letter.from, letter.to, letter.tag}];
}

Letter* World::offer(const Letter& end) {
  std::deque<Letter*>& queue = offers_of(end);
  const bool sends = end.source != nullptr;
  if (queue.empty() || (queue.front()->source != nullptr) == sends) {
    queue.push_back(new_letter(end));
    if (sends && listening_.erase({end.to, end.tag}) > 0) wake(end.to);
    return queue.back();
  }
  Letter* letter = queue.front();
  queue.pop_front();
  if (letter->bytes != end.bytes)
    throw Error("rank {} sends {} bytes with tag {} to rank {}, which expects {} bytes", end.from,
                sends ? end.bytes : letter->bytes, end.tag, end.to,
                sends ? letter->bytes : end.bytes);
  if (sends)
    letter->source = end.source, letter->urgency = end.urgency;
  else
    letter->target = end.target;
  letter->copied |= end.copied;
  letter->users += end.users;
  return send_off(letter, end);
}

void World::pass(Letter* letter, double delay_seconds, bool lost) {
  engine_.pass({.from = letter->from,
                .to = letter->to,
                .bytes = static_cast<double>(letter->bytes),
                .urgency = letter->urgency,
                .delay_seconds = delay_seconds,
                .lost = lost,
                .event = letter});
}

// Sends a message both ends of which are there, with the faults that strike it. Returns the letter
// of the end that came second.
Letter* World::send_off(Letter* letter, const Letter& second) {
  const int from = letter->from, to = letter->to;
  if (letter->copied) {
    pass(letter);
    return letter;
  }
  const std::int64_t number = ++sent_[{from, to}];
  bool twice = false, late = false;
  double delay_seconds = 0;
  const auto tell = [&](const char* what) {
    faults_told_ += fmt::format("; message {} from rank {} to rank {} (tag {}, {} bytes) {}",
                                number, from, to, letter->tag, letter->bytes, what);
  };
  for (const Fault& fault : machine_.faults) {
    if (fault.cuts(from, to) && now() >= fault.seconds) {
      pass(letter, 0, /*lost=*/true);
      faults_told_ = fmt::format("; nothing passes between rank {} and rank {} since {:g} s",
                                 fault.rank, fault.to, fault.seconds);
      return letter;
    }
    if (!fault.of_one_message() || fault.rank != from || fault.to != to || fault.number != number)
      continue;
    if (fault.kind == Fault::corrupt) letter->corrupt = true;
    if (fault.kind == Fault::delay) delay_seconds += fault.seconds;
    if (fault.kind == Fault::duplicate) twice = true, tell("came twice");
    if (fault.kind == Fault::reorder) late = true, tell("was overtaken");
    if (fault.kind == Fault::drop) {
      tell("was dropped");
      pass(letter, 0, /*lost=*/true);
      return letter;
    }
  }
  if (late) return keep_back(letter, second);
  pass(letter, delay_seconds);
  if (twice) send_copy(copy_of(*letter));
  send_held(from, to);
  return letter;
}

// The network holds the message until the next message between these ranks has passed. Its sender
// goes on as if it had arrived; its receiver takes what comes first.
Letter* World::keep_back(Letter* letter, const Letter& second) {
  held_.push_back(copy_of(*letter));
  letter->users = 1;
  if (second.source == nullptr) {
    letter->target = nullptr;
    pass(letter);
    return offer(second);
  }
  letter->source = nullptr;
  offers_of(*letter).push_front(letter);
  Letter* const sent = new_letter(second);
  pass(sent);
  return sent;
}

Letter World::copy_of(const Letter& letter) {
  std::vector<std::byte>& bytes = copies_.emplace_back(
      static_cast<std::size_t>(std::max<std::int64_t>(1, letter.bytes)), std::byte{0});
  if (!at(letter.from).closed && letter.bytes > 0)
    std::memcpy(bytes.data(), letter.source, static_cast<std::size_t>(letter.bytes));
  return {.from = letter.from,
          .to = letter.to,
          .tag = letter.tag,
          .bytes = letter.bytes,
          .urgency = letter.urgency,
          .source = bytes.data(),
          .corrupt = letter.corrupt,
          .copied = true,
          .users = 0};
}

// Sends a copy before all messages that wait to be sent.
void World::send_copy(const Letter& copy) {
  std::deque<Letter*>& queue = offers_of(copy);
  if (!queue.empty() && queue.front()->source != nullptr)
    queue.push_front(new_letter(copy));
  else
    offer(copy);
}

void World::send_held(int from, int to) {
  const auto first = std::stable_partition(held_.begin(), held_.end(), [&](const Letter& letter) {
    return letter.from != from || letter.to != to;
  });
  const std::vector<Letter> free(first, held_.end());
  held_.erase(first, held_.end());
  for (const Letter& copy : free) send_copy(copy);
}

// Sends all messages that the network holds; false when there are none.
bool World::send_all_held() {
  const std::vector<Letter> all = std::exchange(held_, {});
  for (const Letter& copy : all) send_copy(copy);
  return !all.empty();
}

void World::deliver(Letter* letter) {
  Rank &from = at(letter->from), &to = at(letter->to);
  const bool writes = letter->target != nullptr && letter->bytes > 0 && !to.closed;
  if (writes && (letter->copied || !from.closed))
    std::memcpy(letter->target, letter->source, static_cast<std::size_t>(letter->bytes));
  if (writes && letter->corrupt)
    static_cast<std::byte*>(letter->target)[std::min<std::int64_t>(2, letter->bytes - 1)] ^=
        std::byte{64};
  letter->arrived = true;
  if (!from.hangs) wake(letter->from);
  if (!to.hangs) wake(letter->to);
}

void World::forget(Letter* letter) {
  if (--letter->users == 0) free_.push_back(letter);
}

// Carries out the faults of the rank whose time has come. A rank that hangs does nothing until the
// job has failed.
void World::strike(int rank) {
  for (const Fault& fault : machine_.faults) {
    if (fault.rank != rank || now() < fault.seconds || failure_.rank >= 0) continue;
    if (fault.kind == Fault::crash)
      throw Error("it crashes at {:g} s of virtual time (simulation.faults)", fault.seconds);
    if (fault.kind == Fault::hang && !at(rank).hangs) {
      at(rank).hangs = true;
      while (failure_.rank < 0) sleep(rank, never);
    }
  }
}

// Aborts the job, as nothing can happen any more; the reason says who waits for what.
void World::give_up() {
  check(failure_.rank < 0, "ranks of a job that has failed end");
  std::string others;
  int waiting = -1;
  for (int rank = 0; rank < ends(); ++rank) {
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
                          activities[static_cast<std::size_t>(rank)].text(), now(), others,
                          faults_told_));
}

void World::abort(int rank, const std::string& why) {
  if (failure_.rank < 0)
    failure_ = {rank % workers_, rank < workers_ ? why : "the store beside it: " + why};
  wake_all();
}

void World::check_aborted() const {
  if (failure_.rank >= 0) throw Aborted(failure_.rank, failure_.why);
}

}  // namespace tutti::sim
