// SPDX-License-Identifier: Apache-2.0
// Ranks without values on a virtual clock. Their driver says what a rank does next (compute, start
// an operation, wait); operations go on meanwhile. Simulating thousands of ranks takes seconds:
// messages of schedules allocate nothing.
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

// The ranks cut into groups along some axes of a mesh; each group carries out an operation for
// itself.
struct RankGroups {
  std::vector<std::vector<int>> members;  // of each group, in its order
  std::vector<int> group, place;          // by rank: its group, and its place there
};
RankGroups groups_along(const Mesh& mesh, const std::vector<std::string>& axes);

// What the ranks of a group carry out together: messages by schedules; or, without schedules, a
// meeting. A meeting can be waited for when all of them have started it; the wait then takes
// `own_seconds` of the rank's time.
struct VirtualOperation {
  std::vector<std::shared_ptr<const MatchedSchedule>> schedules;  // by group
  double own_seconds = 0;
  int urgency = 0;                                     // of its messages: the lowest passes first
  std::shared_ptr<const RankGroups> groups = nullptr;  // nullptr: all ranks are one group
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
  enum Kind { compute, wait, operation, meeting };  // meeting: the own_seconds of one
  Kind kind = compute;
  int rank = 0;
  int subject = 0;  // of computing: a number of the driver; else the operation
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
  // Adds an operation in which each rank sends, or receives, a single message; returns its number.
  int add_single();
  // The observer is told of every span; empty: there is none.
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

  // Whether the rank need not wait for others: the operation is done, it is a meeting to which all
  // have come, or it was never started.
  bool is_ready(int operation, int rank) const;
  // How a wait for the operation goes on: it is over, the rank computes the own_seconds of a
  // meeting, or it waits on.
  enum class Wait { over, computes, not_yet };
  Wait try_wait(int operation, int rank);

  // Messages that have passed or are about to: both of their ends were ready.
  std::int64_t messages() const { return messages_; }

 private:
  // What has happened to an operation at a rank: one of its messages has arrived at both ends, or
  // the additions of a phase are done.
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
    std::int64_t started = 0;  // number of this start among all starts of the rank
    bool computed = false;     // the additions of the phase have begun
    bool adding = false;       // the additions are under way
    bool done = false;
    bool touched = false;  // the operation is listed in Rank::touched
    double began = 0;
  };
  enum class State { begins, computes, waits, ended };
  struct Rank {
    State state = State::begins;
    double computes_until = 0;
    int waits_for = -1;  // an operation; -1: the rank does not wait
    double wait_began = 0;
    std::int64_t starts = 0;
    std::vector<int> touched = {};  // operations that may go on
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
  std::map<std::tuple<int, int, int>, WaitingEnd> ends_;  // single messages, by number, from, to
  std::vector<Rank> ranks_;
  std::int64_t messages_ = 0;
  std::function<void(const Span&)> observer_;
};

}  // namespace tutti::sim
