// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/virtual_ranks.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::sim {

RankGroups groups_along(const Mesh& mesh, const std::vector<std::string>& axes) {
  RankGroups groups;
  const auto ranks = static_cast<std::size_t>(mesh.ranks());
  groups.group.assign(ranks, -1);
  groups.place.assign(ranks, 0);
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    if (groups.group[static_cast<std::size_t>(rank)] >= 0) continue;
    const std::vector<int> members = mesh.members(rank, axes);
    for (std::size_t k = 0; k < members.size(); ++k) {
      groups.group[static_cast<std::size_t>(members[k])] = static_cast<int>(groups.members.size());
      groups.place[static_cast<std::size_t>(members[k])] = static_cast<int>(k);
    }
    groups.members.push_back(members);
  }
  return groups;
}

VirtualRanks::VirtualRanks(int ranks, const Network& network, ComputeLaw law, int endpoints)
    : engine_(ranks, network, std::move(law), endpoints),
      ranks_(static_cast<std::size_t>(ranks + endpoints)) {}

int VirtualRanks::add(VirtualOperation operation) {
  const auto groups = operation.groups;
  if (!operation.schedules.empty())
    for (int rank = 0; rank < engine_.hosts(); ++rank)
      check(schedule_of(operation, rank).ranks == group_size(operation, rank),
            "a schedule is of as many ranks as a group has");
  met_.emplace_back(groups == nullptr ? 1 : groups->members.size());
  operations_.push_back(std::move(operation));
  places_.resize(operations_.size() * ranks_.size());
  return static_cast<int>(operations_.size()) - 1;
}

int VirtualRanks::add_single() { return add({.schedules = {}, .single = true}); }

int VirtualRanks::place_in_group(const VirtualOperation& operation, int rank) const {
  return operation.groups == nullptr ? rank
                                     : operation.groups->place[static_cast<std::size_t>(rank)];
}

int VirtualRanks::member(const VirtualOperation& operation, int rank, int place) const {
  if (operation.groups == nullptr) return place;
  return operation.groups->members[group_of(operation, rank)][static_cast<std::size_t>(place)];
}

std::size_t VirtualRanks::group_of(const VirtualOperation& operation, int rank) const {
  return operation.groups == nullptr
             ? 0
             : static_cast<std::size_t>(operation.groups->group[static_cast<std::size_t>(rank)]);
}

int VirtualRanks::group_size(const VirtualOperation& operation, int rank) const {
  if (operation.groups == nullptr) return engine_.hosts();
  return static_cast<int>(operation.groups->members[group_of(operation, rank)].size());
}

std::vector<RankTimes> VirtualRanks::run(const std::function<void(int rank)>& go_on) {
  for (int rank = 0; rank < engine_.ranks(); ++rank) engine_.wake(rank, 0);
  while (true) {
    const int rank = engine_.next([this](const Event& event) { happens(event); });
    if (rank < 0) break;
    wake(rank, go_on);
  }
  std::vector<RankTimes> times;
  for (int rank = 0; rank < engine_.ranks(); ++rank) {
    check(at(rank).state == State::ended, "no rank waits for ever");
    at(rank).times.bytes_sent = engine_.bytes_sent(rank);
    times.push_back(at(rank).times);
  }
  return times;
}

void VirtualRanks::happens(const Event& event) {
  if (event.kind == Event::additions) {
    place(event.operation, event.rank).adding = false;
    return touch(event.operation, event.rank);
  }
  arrives(event.operation, event.rank);
  if (event.kind == Event::single) return arrives(event.other, event.other_rank);
  const VirtualOperation& own = operation(event.operation);
  const auto& message =
      schedule_of(own, event.rank).messages[static_cast<std::size_t>(event.other)];
  arrives(event.operation, member(own, event.rank, message.peer));
}

void VirtualRanks::arrives(int operation, int rank) {
  if (--place(operation, rank).open == 0) touch(operation, rank);
}

void VirtualRanks::touch(int operation, int rank) {
  if (!std::exchange(place(operation, rank).touched, true)) at(rank).touched.push_back(operation);
  engine_.wake(rank, engine_.now());
}

void VirtualRanks::wake(int rank, const std::function<void(int rank)>& go_on) {
  Rank& here = at(rank);
  advance_touched(rank);
  if (here.state == State::ended) return;
  if (here.state == State::computes) {
    if (engine_.now() < here.computes_until) return engine_.wake(rank, here.computes_until);
    if (const double more = engine_.end_computing(rank); more > 0) {
      here.times.computing += more;
      here.computes_until = engine_.now() + more;
      return engine_.wake(rank, here.computes_until);
    }
  }
  go_on(rank);
}

// The most urgent operations go on first, as they do where ranks have values (world.h).
void VirtualRanks::advance_touched(int rank) {
  std::vector<int>& touched = at(rank).touched;
  const auto key = [&](int number) {
    return std::tuple(operation(number).urgency, place(number, rank).started);
  };
  std::sort(touched.begin(), touched.end(), [&](int a, int b) { return key(a) < key(b); });
  for (const int number : touched) {
    place(number, rank).touched = false;
    advance(number, rank);
  }
  touched.clear();
}

void VirtualRanks::compute(Span::Kind kind, int rank, int subject, double seconds) {
  end_wait(rank);
  Rank& here = at(rank);
  here.state = State::computes;
  here.computes_until = engine_.begin_computing(rank, seconds);
  const double takes = here.computes_until - engine_.now();
  here.times.computing += takes;
  if (observer_) observer_({kind, rank, subject, engine_.now(), takes});
  engine_.wake(rank, here.computes_until);
}

void VirtualRanks::wait(int rank, int operation) {
  Rank& here = at(rank);
  if (here.waits_for == operation) return;
  end_wait(rank);
  here.state = State::waits;
  here.waits_for = operation;
  here.wait_began = engine_.now();
}

void VirtualRanks::end_wait(int rank) {
  Rank& here = at(rank);
  if (here.waits_for < 0) return;
  const double seconds = engine_.now() - here.wait_began;
  here.times.waiting += seconds;
  if (observer_) observer_({Span::wait, rank, here.waits_for, here.wait_began, seconds});
  here.waits_for = -1;
}

void VirtualRanks::end(int rank) {
  end_wait(rank);
  at(rank).state = State::ended;
  at(rank).times.end = engine_.now();
}

bool VirtualRanks::all_have_come(int number, int rank) const {
  const VirtualOperation& own = operation(number);
  const std::int64_t round = places_[place_index(number, rank)].round;
  return met_[static_cast<std::size_t>(number)][group_of(own, rank)] >=
         group_size(own, rank) * round;
}

bool VirtualRanks::is_ready(int number, int rank) const {
  const Place& here = places_[place_index(number, rank)];
  if (here.round == 0 || here.done) return true;
  const bool meets = operation(number).schedules.empty() && !operation(number).single;
  return meets && all_have_come(number, rank);
}

VirtualRanks::Wait VirtualRanks::try_wait(int number, int rank) {
  if (!is_ready(number, rank)) return Wait::not_yet;
  Place& here = place(number, rank);
  if (here.round == 0 || here.done) return Wait::over;
  here.done = true;
  const double seconds = operation(number).own_seconds;
  if (seconds == 0) return Wait::over;
  compute(Span::meeting, rank, number, seconds);
  return Wait::computes;
}

VirtualRanks::Place& VirtualRanks::begin(int number, int rank) {
  end_wait(rank);
  Place& here = place(number, rank);
  check(here.round == 0 || here.done || operation(number).schedules.empty(),
        "an operation is complete before it starts again");
  ++here.round;
  here.started = ++at(rank).starts;
  here.done = here.computed = false;
  here.began = engine_.now();
  return here;
}

void VirtualRanks::start(int number, int rank) {
  Place& here = begin(number, rank);
  const VirtualOperation& started = operation(number);
  if (!started.schedules.empty()) {
    const MatchedSchedule& schedule = schedule_of(started, rank);
    const auto place = static_cast<std::size_t>(place_in_group(started, rank));
    here.phase = schedule.first_phases[place];
    here.posted = schedule.first_messages[place];
    if (here.phase < schedule.first_phases[place + 1]) post(number, rank);
    return advance(number, rank);
  }
  const int members = group_size(started, rank);
  if (++met_[static_cast<std::size_t>(number)][group_of(started, rank)] % members != 0) return;
  for (int k = 0; k < members; ++k)
    if (const int peer = member(started, rank, k); at(peer).state == State::waits && peer != rank)
      engine_.wake(peer, engine_.now());
}

void VirtualRanks::start_single(int number, int rank, const MessageEnd& end) {
  begin(number, rank).open = 1;
  const int from = end.sends ? rank : end.peer, to = end.sends ? end.peer : rank;
  const auto [found, is_first] =
      ends_.try_emplace({end.message, from, to}, WaitingEnd{end, number});
  if (is_first) return;
  const WaitingEnd other = found->second;
  ends_.erase(found);
  check(other.end.sends != end.sends && other.end.bytes == end.bytes,
        "a message has two ends of the same size");
  ++messages_;
  engine_.pass({.from = from,
                .to = to,
                .bytes = end.bytes,
                .urgency = end.sends ? end.urgency : other.end.urgency,
                .event = {Event::single, number, rank, other.operation, end.peer}});
}

// Goes on from phase to phase, as far as messages have arrived and additions are done.
void VirtualRanks::advance(int number, int rank) {
  Place& here = place(number, rank);
  if (here.done || here.open > 0) return;
  const VirtualOperation& own = operation(number);
  if (own.single) return complete(number, rank);
  const MatchedSchedule& schedule = schedule_of(own, rank);
  const std::int32_t end =
      schedule.first_phases[static_cast<std::size_t>(place_in_group(own, rank)) + 1];
  while (here.phase < end) {
    if (!here.computed) {
      if (here.open > 0) return;
      here.computed = true;
      const double bytes = schedule.phases[static_cast<std::size_t>(here.phase)].added_bytes;
      const double until = bytes > 0 ? engine_.add(rank, bytes) : engine_.now();
      here.adding = until > engine_.now();
      if (here.adding) engine_.plan(until, {Event::additions, number, rank});
    }
    if (here.adding) return;
    here.computed = false;
    if (++here.phase < end) post(number, rank);
  }
  complete(number, rank);
}

// Posts the messages of the phase; those whose other end is posted begin to pass. Receives come
// before sends, as they do where ranks have values (world.h).
void VirtualRanks::post(int number, int rank) {
  const MatchedSchedule& schedule = schedule_of(operation(number), rank);
  Place& here = place(number, rank);
  const std::int32_t begin = here.posted;
  const std::int32_t end = schedule.phases[static_cast<std::size_t>(here.phase)].end;
  here.posted = end;
  here.open = end - begin;
  for (const bool sends : {false, true})
    for (std::int32_t i = begin; i < end; ++i) {
      const MatchedSchedule::Message& message = schedule.messages[static_cast<std::size_t>(i)];
      if (message.sends != sends) continue;
      const Place& there = place(number, member(operation(number), rank, message.peer));
      if (there.round == here.round && there.posted > message.other_end) send(number, rank, i);
    }
}

// Lets a message of the rank's schedule pass, both ends of which are ready.
void VirtualRanks::send(int number, int rank, std::int32_t message_number) {
  const VirtualOperation& own = operation(number);
  const auto& message = schedule_of(own, rank).messages[static_cast<std::size_t>(message_number)];
  const int peer = member(own, rank, message.peer);
  ++messages_;
  engine_.pass({.from = message.sends ? rank : peer,
                .to = message.sends ? peer : rank,
                .bytes = message.bytes,
                .urgency = own.urgency,
                .event = {Event::message, number, rank, message_number}});
}

void VirtualRanks::complete(int number, int rank) {
  Place& here = place(number, rank);
  here.done = true;
  if (observer_) observer_({Span::operation, rank, number, here.began, engine_.now() - here.began});
}

}  // namespace tutti::sim
