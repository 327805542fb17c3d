// SPDX-License-Identifier: Apache-2.0
// The event engine of all simulations, with values (world.h) and without (virtual_ranks.h): virtual
// time, messages that pass ports, and the order in which ranks go on. Events of one moment are told
// first, in the order in which they were planned; then the ranks that they wake go on, the lowest
// first. So times are a function of what ranks do, whoever drives them.
#pragma once

#include "tutti/comm/sim/compute_law.h"
#include "tutti/comm/sim/event_queue.h"
#include "tutti/comm/sim/ports.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tutti::sim {

inline constexpr double never = std::numeric_limits<double>::infinity();

// `Event` is a type of the driver, which next() tells of events that happen.
template <class Event>
class Engine {
 public:
  // Endpoints, which have numbers behind the ranks, share the ports and the core of the rank beside
  // them.
  Engine(int ranks, const Network& network, ComputeLaw law, int endpoints = 0)
      : ports_(ranks, network),
        law_(std::move(law)),
        hosts_(ranks),
        ranks_(static_cast<std::size_t>(ranks + endpoints)) {}

  int ranks() const { return static_cast<int>(ranks_.size()); }  // with endpoints
  int hosts() const { return hosts_; }                           // ranks that are no endpoints
  const Network& network() const { return ports_.network(); }
  double now() const { return now_; }
  double bytes_sent(int rank) const { return rank < hosts_ ? ports_.bytes_sent(rank) : 0; }

  // Plans an event for this time.
  void plan(double seconds, const Event& event) {
    events_.add(seconds, {keep({.event = event}), false});
  }
  // Lets a message pass: it begins when its ports are free, and its event happens when it arrives.
  void pass(Passage<Event> passage) {
    passage.from = host(passage.from);
    passage.to = host(passage.to);
    ports_.ask(keep(passage), passage);
    begin_passages(passage.from, passage.to);
  }

  // Lets the rank go on at this time, unless something wakes it before.
  void wake(int rank, double seconds) {
    Rank& own = at(rank);
    if (seconds >= own.wakes) return;
    own.wakes = seconds;
    wakes_.push_back({seconds, rank});
    std::push_heap(wakes_.begin(), wakes_.end(), Later());
  }

  // The rank begins to compute what takes so long at speed 1. Returns the time at which that is
  // over, unless end_computing() makes it longer.
  double begin_computing(int rank, double predicted_seconds) {
    at(rank).computing = true;
    const double seconds = law_.seconds(host(rank), at(rank).computations++, predicted_seconds);
    if (rank >= hosts_ && at(host(rank)).computing) at(host(rank)).handling_seconds += seconds;
    return now_ + seconds;
  }
  // Seconds by which computing takes longer, as handling messages and an endpoint took the core
  // meanwhile; 0: computing is over.
  double end_computing(int rank) {
    const double more = std::exchange(at(rank).handling_seconds, 0);
    if (more == 0) at(rank).computing = false;
    return more;
  }
  // The time at which the rank has added so many bytes: one addition at a time, beside computing.
  double add(int rank, double bytes) {
    double& until = at(rank).adding_until;
    return until = std::max(now_, until) + network().within.add_seconds(bytes);
  }

  // Lets time pass until a rank goes on, and returns that rank; `happens` is told of the events up
  // to then. -1: nothing can happen any more.
  template <class Happens>
  int next(const Happens& happens) {
    while (true) {
      while (!wakes_.empty() && at(wakes_.front().rank).wakes != wakes_.front().seconds)
        drop_wake();
      const double wakes = wakes_.empty() ? never : wakes_.front().seconds;
      if (!events_.empty() && events_.next_seconds() <= wakes) {
        now_ = std::max(now_, events_.next_seconds());
        take(events_.take(), happens);
      } else if (wakes_.empty()) {
        return -1;
      } else {
        const int rank = wakes_.front().rank;
        drop_wake();
        now_ = std::max(now_, wakes);
        at(rank).wakes = never;
        return rank;
      }
    }
  }

 private:
  struct Planned {
    int number = 0;           // in kept_
    bool is_passage = false;  // true: the bytes have passed the ports; false: the event happens
  };
  struct Rank {
    double wakes = never;
    double adding_until = 0;
    double handling_seconds = 0;
    std::uint64_t computations = 0;  // so far
    bool computing = false;
  };
  struct Wake {
    double seconds = 0;
    int rank = 0;
  };
  struct Later {
    bool operator()(const Wake& a, const Wake& b) const {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.rank > b.rank;
    }
  };

  int host(int rank) const { return rank % hosts_; }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void drop_wake() {
    std::pop_heap(wakes_.begin(), wakes_.end(), Later());
    wakes_.pop_back();
  }

  int keep(const Passage<Event>& passage) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(kept_.size()));
      kept_.emplace_back();
    }
    const int number = free_.back();
    free_.pop_back();
    kept_[static_cast<std::size_t>(number)] = passage;
    return number;
  }

  void begin_passages(int from, int to) {
    for (const int next : {ports_.next_sent(from), ports_.next_received(to)})
      if (next >= 0)
        events_.add(now_ + ports_.seconds(kept_[static_cast<std::size_t>(next)]), {next, true});
  }

  template <class Happens>
  void take(const Planned& planned, const Happens& happens) {
    const Passage<Event> passage = kept_[static_cast<std::size_t>(planned.number)];
    if (!planned.is_passage) {
      free_.push_back(planned.number);
      handle(passage);
      return happens(passage.event);
    }
    ports_.end(passage.from, passage.to);
    const double latency = network().link(passage.from, passage.to).latency_seconds;
    if (passage.lost)
      free_.push_back(planned.number);
    else
      events_.add(now_ + latency + passage.delay_seconds, {planned.number, false});
    begin_passages(passage.from, passage.to);
  }

  // A core that computes handles the message too; one that waits has the time.
  void handle(const Passage<Event>& passage) {
    if (passage.bytes == 0) return;
    const double each = network().link(passage.from, passage.to).handling_seconds_per_byte;
    for (const int rank : {passage.from, passage.to})
      if (at(rank).computing) at(rank).handling_seconds += each * passage.bytes;
  }

  Ports<Event> ports_;
  ComputeLaw law_;
  const int hosts_;
  std::vector<Passage<Event>> kept_;  // messages on their way, and events to come
  std::vector<int> free_;             // numbers of kept_ that can be used again
  EventQueue<Planned> events_;
  std::vector<Rank> ranks_;
  std::vector<Wake> wakes_;  // a heap; outdated ones are dropped when they come first
  double now_ = 0;
};

}  // namespace tutti::sim
