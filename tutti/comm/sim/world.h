// SPDX-License-Identifier: Apache-2.0
// Ranks with real values on a virtual clock. Their threads take turns: the one whose virtual time
// is least runs, until it waits for a message or has computed for a while of virtual time. So
// nothing depends on how fast the threads really are, and no state here needs a lock: whoever has
// the turn has the world.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/comm/sim/engine.h"
#include "tutti/comm/sim/faults.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tutti::sim {

struct SimulatedMachine {
  Network network = LinkCost{1e-5, 1e-9};
  ComputeLaw law = {};
  std::vector<Fault> faults = {};
};

// A message, or one end of it that waits for the other.
struct Letter {
  int from = 0, to = 0, tag = 0;
  std::int64_t bytes = 0;
  int urgency = 0;  // as the sender says
  const void* source = nullptr;
  void* target = nullptr;
  bool arrived = false;
  bool corrupt = false;      // a bit of it changes on the way
  bool copied = false;       // a copy that the network sends again or late; no sender waits for it
  int users = 1;             // ends that have not seen that it arrived
  std::uint64_t number = 0;  // in the order in which letters were made
};

class World {
 public:
  World(int ranks, const SimulatedMachine& machine, int endpoints = 0);

  // ranks() take part in barriers; ends() are the ranks and the endpoints behind them.
  int ranks() const { return workers_; }
  int ends() const { return static_cast<int>(ranks_.size()); }
  const SimulatedMachine& machine() const { return machine_; }
  // The virtual time of the rank whose turn it is.
  double now() const { return engine_.now(); }

  // The thread of a rank begins, and ends. In between it has the turn, except in sleep().
  void enter(int rank);
  void leave(int rank);
  // Lets other ranks go on until this virtual time, or until something has happened to the rank
  // before.
  void sleep(int rank, double until);
  // Computing, which messages may make longer: see Engine.
  double begin_computing(int rank, double seconds) {
    return engine_.begin_computing(rank, seconds);
  }
  double end_computing(int rank) { return engine_.end_computing(rank); }
  double add(int rank, double bytes) { return engine_.add(rank, bytes); }
  // Wakes all ranks now.
  void wake_all();

  // Offers one end of a message; when the other is there too, the message is sent off.
  Letter* offer(const Letter& end);
  // Of the messages with a tag that were sent to a rank and that it has not asked for, the one that
  // was sent first; nullptr: there is none, and the rank is woken when one is sent.
  const Letter* waiting(int rank, int tag);
  // A letter without bytes from a rank to itself, which arrives at the time `then`.
  Letter* remind(int rank, double then);
  // One end has seen that the letter arrived.
  void forget(Letter* letter);
  // The memory of this rank is about to go: it is read and written no more.
  void close(int rank) { ranks_[static_cast<std::size_t>(rank)].closed = true; }

  void abort(int rank, const std::string& why);
  void check_aborted() const;

  // A rank comes to the barrier and gets the barrier's number; it may go on when `barriers` is
  // larger.
  std::uint64_t arrive();

  std::vector<Activity> activities;  // by end
  std::uint64_t barriers = 0;        // passed

 private:
  struct Rank {
    bool ended = false, hangs = false, closed = false;
  };
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void wake(int rank);
  void pass_turn();
  int next();
  void pass(Letter* letter, double delay_seconds = 0, bool lost = false);
  Letter* new_letter(const Letter& like);
  std::deque<Letter*>& offers_of(const Letter& letter);
  Letter* send_off(Letter* letter, const Letter& second);
  Letter* keep_back(Letter* letter, const Letter& second);
  Letter copy_of(const Letter& letter);
  void send_copy(const Letter& copy);
  void send_held(int from, int to);
  bool send_all_held();
  void deliver(Letter* letter);
  void strike(int rank);
  void give_up();

  const SimulatedMachine machine_;
  const int workers_;
  Engine<Letter*> engine_;
  std::vector<Rank> ranks_;
  int arrived_ = 0;  // at the next barrier
  std::uint64_t letters_made_ = 0;
  std::set<std::pair<int, int>> listening_;  // ranks, and the tags that they wait for from anyone
  std::deque<Letter> letters_;
  std::vector<Letter*> free_;
  std::map<std::tuple<int, int, int>, std::deque<Letter*>> offers_;  // by from, to, tag
  std::map<std::pair<int, int>, std::int64_t> sent_;  // messages so far, by from and to
  std::deque<std::vector<std::byte>> copies_;         // of messages
  std::vector<Letter> held_;  // until the next message of their ranks has passed
  std::string faults_told_;   // faults so far, for the error when nothing can go on

  struct Failure {
    int rank = -1;  // none yet
    std::string why;
  };
  Failure failure_;

  std::mutex mutex_;  // guards turn_ and entered_
  std::deque<std::condition_variable> turns_;
  int turn_ = -1;
  int entered_ = 0;
};

}  // namespace tutti::sim
