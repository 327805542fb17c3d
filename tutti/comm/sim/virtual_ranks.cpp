// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/virtual_ranks.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <utility>

namespace tutti::sim {

int VirtualRanks::add(VirtualOperation operation) {
  check(operation.schedule == nullptr ||
            static_cast<std::size_t>(operation.schedule->ranks) == ranks_.size(),
        "a schedule is of as many ranks as are simulated");
  operations_.push_back(std::move(operation));
  return static_cast<int>(operations_.size()) - 1;
}

std::vector<RankTimes> VirtualRanks::run(const std::vector<Task>& tasks, int rounds,
                                         const std::vector<Task>& ending) {
  tasks_ = &tasks;
  ending_ = &ending;
  rounds_end_ = tasks.size() * static_cast<std::size_t>(rounds);
  end_task_ = rounds_end_ + ending.size();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const int group = tasks[i].group;
    if (group < 0) continue;
    if (static_cast<std::size_t>(group) == groups_.size()) groups_.emplace_back(i, i);
    check(static_cast<std::size_t>(group) == groups_.size() - 1, "groups are counted from 0");
    groups_.back().second = i + 1;
  }
  for (Rank& rank : ranks_) rank.done_early.assign(groups_.size(), 0);
  places_.resize(operations_.size() * ranks_.size());
  met_.resize(operations_.size());
  const int ranks = static_cast<int>(ranks_.size());
  for (int rank = 0; rank < ranks; ++rank) events_.add(0, {.rank = rank});
  while (!events_.empty()) {
    now_ = events_.next_seconds();
    take(events_.take());
  }
  std::vector<RankTimes> times;
  for (int rank = 0; rank < ranks; ++rank) {
    check(at(rank).task == end_task_, "no rank waits for ever");
    at(rank).times.bytes_sent = ports_.bytes_sent(rank) + urgent_ports_.bytes_sent(rank);
    times.push_back(at(rank).times);
  }
  return times;
}

void VirtualRanks::take(const Event& event) {
  if (event.operation < 0) {
    if (at(event.rank).handling == 0) return go_on(event.rank);
    return compute_longer(event.rank, std::exchange(at(event.rank).handling, 0));
  }
  if (event.message < 0) return enter_step(event.operation, event.rank);
  if (event.passed_only) return free_ports(event);
  const auto& messages = operations_[static_cast<std::size_t>(event.operation)].schedule->messages;
  const MatchedSchedule::Message& message = messages[static_cast<std::size_t>(event.message)];
  const double handling = ports_.network().link(event.rank, message.peer).handling_seconds_per_byte;
  for (const int rank : {event.rank, message.peer})
    if (at(rank).waits_for < 0) at(rank).handling += handling * message.bytes;
  close(event.operation, event.rank);
  close(event.operation, message.peer);
}

// nullptr at the end.
const Task* VirtualRanks::next_task(Rank& here) const {
  while (true) {
    const std::size_t round = std::min(here.task, rounds_end_) / tasks_->size();
    const std::size_t index = here.task % tasks_->size();
    const Task* task = here.task < rounds_end_ ? &(*tasks_)[index] : nullptr;
    if (here.early >= 0) {
      if (task != nullptr && task->group == here.early) return task;
      here.early = -1;
      here.task = here.back;
      continue;
    }
    if (task == nullptr) {
      if (here.task == end_task_) return nullptr;
      const Task& last = (*ending_)[here.task - rounds_end_];
      if (last.group < 0 || here.done_early[static_cast<std::size_t>(last.group)] < round)
        return &last;
      ++here.task;
      continue;
    }
    if (task->group < 0) return task;
    const auto group = static_cast<std::size_t>(task->group);
    if (round > 0 && here.done_early[group] < round) return task;
    here.task += groups_[group].second - index;
  }
}

bool VirtualRanks::need_not_wait(int operation, int rank) {
  const Place& here = place(operation, rank);
  if (here.round == 0 || here.done) return true;
  const auto index = static_cast<std::size_t>(operation);
  return operations_[index].schedule == nullptr &&
         met_[index] >= static_cast<std::int64_t>(ranks_.size()) * here.round;
}

// Whether it is in a group, and in that in its turn.
bool VirtualRanks::may_do_another(const Rank& here) const {
  return here.task < rounds_end_ && here.early < 0 &&
         (*tasks_)[here.task % tasks_->size()].group >= 0;
}

// Whether the rank, which would have to wait, does another group first.
bool VirtualRanks::does_another(int rank) {
  Rank& here = at(rank);
  if (!may_do_another(here)) return false;
  const std::size_t round = here.task / tasks_->size(), index = here.task % tasks_->size();
  for (auto group = static_cast<std::size_t>((*tasks_)[index].group) + 1; group < groups_.size();
       ++group) {
    if (here.done_early[group] == round || !is_ready(group, rank)) continue;
    do_early(here, group, round);
    return true;
  }
  return false;
}

// Whether the rank does a group of this round, whose turn would come in the next.
bool VirtualRanks::does_offered(int rank) {
  Rank& here = at(rank);
  const auto found = std::find_if(here.offered.begin(), here.offered.end(), [&](int group) {
    return is_ready(static_cast<std::size_t>(group), rank);
  });
  if (found == here.offered.end()) return false;
  const auto group = static_cast<std::size_t>(*found);
  here.offered.erase(found);
  do_early(here, group, here.task / tasks_->size() + 1);
  return true;
}

// Where there is nothing to compute, nothing is gained.
bool VirtualRanks::is_ready(std::size_t group, int rank) {
  const auto [begin, end] = groups_[group];
  bool computes = false;
  for (std::size_t i = begin; i < end; ++i) {
    if ((*tasks_)[i].kind == Task::wait && !need_not_wait((*tasks_)[i].subject, rank)) return false;
    computes |= (*tasks_)[i].kind == Task::compute;
  }
  return computes;
}

// `turn`: the round that goes without it then.
void VirtualRanks::do_early(Rank& here, std::size_t group, std::size_t turn) {
  here.done_early[group] = turn;
  here.early = static_cast<int>(group);
  here.back = here.task;
  here.task += groups_[group].first - here.task % tasks_->size();
}

void VirtualRanks::go_on(int rank) {
  Rank& here = at(rank);
  while (const Task* next = next_task(here)) {
    const Task& task = *next;
    if (task.kind == Task::compute) {
      const std::size_t number = here.task++;
      return compute(Span::compute, rank, task.subject, law_.seconds(rank, number, task.seconds));
    }
    if (task.kind == Task::offer) {
      const std::size_t round = here.task++ / tasks_->size();
      if (std::exchange(here.offered_round, round) != round) here.offered.clear();
      here.offered.push_back(task.subject);
      continue;
    }
    if (task.kind == Task::look) {
      if (!does_offered(rank)) ++here.task;
      continue;
    }
    if (task.kind == Task::start) {
      ++here.task;
      start(task.subject, rank);
      continue;
    }
    Place& operation = place(task.subject, rank);
    const VirtualOperation& waited = operations_[static_cast<std::size_t>(task.subject)];
    const bool meets = waited.schedule == nullptr && operation.round > 0 && !operation.done;
    if (meets && met_[static_cast<std::size_t>(task.subject)] >=
                     static_cast<std::int64_t>(ranks_.size()) * operation.round) {
      operation.done = true;
      ++here.task;
      return compute(Span::meeting, rank, task.subject,
                     law_.seconds(rank, here.task, waited.own_seconds));
    }
    if (operation.round > 0 && !operation.done) {
      if (does_another(rank)) continue;
      here.waits_for = task.subject;
      here.wait_began = now_;
      return;
    }
    ++here.task;
  }
  here.times.end = now_;
}

void VirtualRanks::compute_longer(int rank, double seconds) {
  at(rank).times.computing += seconds;
  events_.add(now_ + seconds, {.rank = rank});
}

void VirtualRanks::compute(Span::Kind kind, int rank, int subject, double seconds) {
  compute_longer(rank, seconds);
  if (observer_) observer_({kind, rank, subject, now_, seconds});
}

void VirtualRanks::start(int operation, int rank) {
  Place& here = place(operation, rank);
  ++here.round;
  here.done = false;
  here.began = now_;
  const VirtualOperation& started = operations_[static_cast<std::size_t>(operation)];
  if (started.schedule != nullptr) {
    here.step = started.schedule->first_steps[static_cast<std::size_t>(rank)];
    here.posted = started.schedule->first_messages[static_cast<std::size_t>(rank)];
    return enter_step(operation, rank);
  }
  const auto ranks = static_cast<std::int64_t>(ranks_.size());
  if (++met_[static_cast<std::size_t>(operation)] % ranks != 0) return;
  for (int peer = 0; peer < ranks; ++peer)
    if (at(peer).waits_for == operation) {
      at(peer).waits_for = -1;
      tell(Span::wait, peer, operation, at(peer).wait_began);
      events_.add(now_, {.rank = peer});
    }
}

void VirtualRanks::enter_step(int operation, int rank) {
  const MatchedSchedule& schedule = *operations_[static_cast<std::size_t>(operation)].schedule;
  Place& here = place(operation, rank);
  if (here.step == schedule.first_steps[static_cast<std::size_t>(rank) + 1])
    return complete(operation, rank);
  const std::int32_t begin = here.posted;
  const std::int32_t end = schedule.steps[static_cast<std::size_t>(here.step)].end;
  here.posted = end;
  here.open = end - begin + 1;
  for (std::int32_t i = begin; i < end; ++i) {
    const MatchedSchedule::Message& message = schedule.messages[static_cast<std::size_t>(i)];
    const Place& there = place(operation, message.peer);
    if (there.round != here.round || there.posted <= message.other_end) continue;
    send(operation, rank, i);
  }
  close(operation, rank);
}

// The message of the rank's schedule, for which both ends are ready.
void VirtualRanks::send(int operation, int rank, std::int32_t number) {
  const VirtualOperation& own = operations_[static_cast<std::size_t>(operation)];
  const auto& message = own.schedule->messages[static_cast<std::size_t>(number)];
  const int from = message.sends ? rank : message.peer, to = message.sends ? message.peer : rank;
  ++messages_;
  if (order_ == Order::as_asked) {
    events_.add(ports_.pass(from, to, message.bytes, now_), {operation, rank, number});
    return;
  }
  urgent_ports_.ask({own.urgency, operation, rank, number, from, to, message.bytes});
  begin_messages(from, to);
}

void VirtualRanks::begin_messages(int from, int to) {
  for (const auto& next : {urgent_ports_.next_sent(from), urgent_ports_.next_received(to)})
    if (next)
      events_.add(now_ + urgent_ports_.seconds(*next),
                  {next->operation, next->rank, next->number, true});
}

void VirtualRanks::free_ports(const Event& event) {
  const MatchedSchedule& schedule =
      *operations_[static_cast<std::size_t>(event.operation)].schedule;
  const auto& message = schedule.messages[static_cast<std::size_t>(event.message)];
  const int from = message.sends ? event.rank : message.peer;
  const int to = message.sends ? message.peer : event.rank;
  urgent_ports_.end(from, to);
  const double latency = ports_.network().link(from, to).latency_seconds;
  events_.add(now_ + latency, {event.operation, event.rank, event.message});
  begin_messages(from, to);
}

void VirtualRanks::close(int operation, int rank) {
  Place& here = place(operation, rank);
  if (--here.open > 0) return;
  const MatchedSchedule& schedule = *operations_[static_cast<std::size_t>(operation)].schedule;
  const double bytes = schedule.steps[static_cast<std::size_t>(here.step++)].added_bytes;
  if (bytes == 0) return enter_step(operation, rank);
  const double added = ports_.network().within.add_seconds(bytes);
  Rank& adds = at(rank);
  adds.adding_until = std::max(now_, adds.adding_until) + added;
  events_.add(adds.adding_until, {operation, rank, -1});
}

void VirtualRanks::complete(int operation, int rank) {
  Place& here = place(operation, rank);
  here.done = true;
  tell(Span::operation, rank, operation, here.began);
  const int waited = at(rank).waits_for;
  if (waited != operation && (waited < 0 || !may_do_another(at(rank)))) return;
  at(rank).waits_for = -1;
  tell(Span::wait, rank, waited, at(rank).wait_began);
  go_on(rank);
}

void VirtualRanks::tell(Span::Kind kind, int rank, int subject, double begin) {
  if (kind == Span::wait) at(rank).times.waiting += now_ - begin;
  if (observer_) observer_({kind, rank, subject, begin, now_ - begin});
}

}  // namespace tutti::sim
