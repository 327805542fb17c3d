// SPDX-License-Identifier: Apache-2.0
// Ranks without values on a virtual clock: whoever drives them says what a rank does next (compute,
// start an operation, wait), while its operations go on beside. Thousands of ranks are a matter of
// seconds. Nothing is allocated per message.
#pragma once

#include "tutti/comm/sim/engine.h"
#include "tutti/comm/sim/matched_schedule.h"
#include "tutti/core/mesh.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::sim {

// Ranks in groups that each carry out an operation of their own: those along some axes of a mesh.
struct RankGroups {
  std::vector<std::vector<int>> members;  // of each group, in its order
  std::vector<int> group, place;          // by rank: its group, and its place there
};
RankGroups groups_along(const Mesh& mesh, const std::vector<std::string>& axes);

// What ranks carry out together: messages by schedules; or, without any, a meeting, which may be
// waited for when all have started it, and then takes so many seconds of each rank's own.
struct VirtualOperation {
  std::vector<std::shared_ptr<const MatchedSchedule>> schedules;  // by group
  double own_seconds = 0;
  int urgency = 0;                                     // of its messages: the least pass first
  std::shared_ptr<const RankGroups> groups = nullptr;  // nullptr: all ranks are one
  bool single = false;                                 // see VirtualRanks::add_single
};

// One end of a single message.
struct MessageEnd {
  int message = 0;  // equal at both ends
  bool sends = false;
  int peer = 0;
  double bytes = 0;
  int urgency = 0;
};

// What a rank did from when to when, for traces.
struct Span {
  enum Kind { compute, wait, operation, meeting };  // meeting: a rank's own time for one
  Kind kind = compute;
  int rank = 0;
  int subject = 0;  // of computing: as its driver calls it; else the operation
  double begin = 0, seconds = 0;
};

struct RankTimes {
  double end = 0;  // when the rank had done everything
  double computing = 0, waiting = 0;
  double bytes_sent = 0;
};

class VirtualRanks {
 public:
  // Endpoints have numbers behind the ranks and send single messages only.
  VirtualRanks(int ranks, const Network& network, ComputeLaw law = {}, int endpoints = 0);

  // Adds an operation and returns its number.
  int add(VirtualOperation operation);
  // An operation of ranks that each send, or receive, a single message.
  int add_single();
  // The observer is told of every span as it ends; empty: there is none.
  void set_observer(std::function<void(const Span&)> observer) { observer_ = std::move(observer); }

  // Runs all ranks to their end and returns their times. `go_on` is called for a rank when it
  // begins, when its computing is over, and when something has happened while it waits; it may
  // start operations, and then lets the rank compute, wait or end. Throws std::logic_error when
  // ranks wait for each other for ever. May be called once.
  std::vector<RankTimes> run(const std::function<void(int rank)>& go_on);

  // What `go_on` may let its rank do.
  void compute(int rank, int subject, double seconds) {
    compute(Span::compute, rank, subject, seconds);
  }
  void start(int operation, int rank);
  void start_single(int operation, int rank, const MessageEnd& end);
  // The rank waits until something happens; traces say that it waits for `operation`.
  void wait(int rank, int operation);
  void end(int rank);

  // Whether waiting for the operation would be over at once, or it was never started.
  bool is_ready(int operation, int rank) const;
  // How a wait for the operation goes on: it is over, the rank computes its own part of it, or it
  // goes on waiting.
  enum class Wait { over, computes, not_yet };
  Wait try_wait(int operation, int rank);

  // Messages that have passed or are about to.
  std::int64_t messages() const { return messages_; }

 private:
  // Something of an operation has happened at a rank: a message of it has arrived at both of its
  // ends, or the additions of a phase are done.
  struct Event {
    enum Kind : std::uint8_t { message, single, additions };
    Kind kind = message;
    std::int32_t operation = 0, rank = 0;
    // message: its number in the schedule; single: operation and rank of the other end.
    std::int32_t other = 0, other_rank = 0;
  };
  // How far a rank is in an operation.
  struct Place {
    std::int32_t phase = 0;    // of the schedule
    std::int32_t posted = 0;   // the end of the messages that were asked for
    std::int32_t open = 0;     // messages of the phase that have not arrived
    std::int32_t round = 0;    // starts so far
    std::int64_t started = 0;  // in the order of the rank's starts
    bool computed = false;     // the additions of the phase are counted
    bool adding = false;       // they are under way
    bool done = false;
    bool touched = false;  // it stands in Rank::touched
    double began = 0;
  };
  enum class State { begins, computes, waits, ended };
  struct Rank {
    State state = State::begins;
    double computes_until = 0;
    int waits_for = -1;  // an operation; -1: the rank does not wait
    double wait_began = 0;
    std::int64_t starts = 0;
    std::vector<int> touched = {};  // operations that may get on
    RankTimes times = {};
  };

  const VirtualOperation& operation(int number) const {
    return operations_[static_cast<std::size_t>(number)];
  }
  std::size_t place_index(int operation, int rank) const {
    return static_cast<std::size_t>(operation) * ranks_.size() + static_cast<std::size_t>(rank);
  }
  Place& place(int operation, int rank) { return places_[place_index(operation, rank)]; }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const MatchedSchedule& schedule_of(const VirtualOperation& operation, int rank) const {
    return *operation.schedules[group_of(operation, rank)];
  }
  int place_in_group(const VirtualOperation& operation, int rank) const;
  int member(const VirtualOperation& operation, int rank, int place) const;
  int group_size(const VirtualOperation& operation, int rank) const;
  std::size_t group_of(const VirtualOperation& operation, int rank) const;
  bool all_have_come(int operation, int rank) const;

  void happens(const Event& event);
  void arrives(int operation, int rank);
  void touch(int operation, int rank);
  void wake(int rank, const std::function<void(int rank)>& go_on);
  void compute(Span::Kind kind, int rank, int subject, double seconds);
  Place& begin(int operation, int rank);
  void advance_touched(int rank);
  void advance(int operation, int rank);
  void post(int operation, int rank);
  void send(int operation, int rank, std::int32_t number);
  void complete(int operation, int rank);
  void end_wait(int rank);

  Engine<Event> engine_;
  std::vector<VirtualOperation> operations_;
  std::vector<std::vector<std::int64_t>> met_;  // by operation and group: starts of a meeting
  std::vector<Place> places_;                   // by operation, then rank
  struct WaitingEnd {
    MessageEnd end;
    int operation = 0;
  };
  std::map<std::tuple<int, int, int>, WaitingEnd> ends_;  // of single messages, by these, from, to
  std::vector<Rank> ranks_;
  std::int64_t messages_ = 0;
  std::function<void(const Span&)> observer_;
};

}  // namespace tutti::sim
