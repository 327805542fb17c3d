// SPDX-License-Identifier: Apache-2.0
// Ranks without values: each does the same list of tasks (compute, start an operation, wait for
// it) on a virtual clock, while its operations go on beside. Thousands of ranks are a matter of
// seconds. Nothing is allocated per message.
#pragma once

#include "tutti/comm/sim/compute_law.h"
#include "tutti/comm/sim/event_queue.h"
#include "tutti/comm/sim/matched_schedule.h"
#include "tutti/comm/sim/ports.h"
#include "tutti/comm/sim/urgent_ports.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tutti::sim {

// offer: from here on a group (below) can be done in its own round already. look: the rank does, of
// those that were offered, what need not wait; the next round, or the ending, then goes without.
struct Task {
  enum Kind { compute, start, wait, offer, look };
  Kind kind = compute;
  // Of start and wait: the operation; of offer: the group; of compute: what the caller calls it.
  int subject = 0;
  double seconds = 0;  // of compute, on a rank of speed 1
  // Consecutive tasks with the same number, from 0 on, belong to the round before: the first goes
  // without. A rank that would wait in such a group does others first that need not wait.
  int group = -1;
};

// A collective: messages by a schedule, or, without one, a meeting: it may be waited for when all
// have started it, and then takes so many seconds of each rank's own.
struct VirtualOperation {
  std::shared_ptr<const MatchedSchedule> schedule;
  double own_seconds = 0;
  int urgency = 0;  // of its messages, where these overtake others: the least first
};

enum class Order { as_asked, by_urgency };

// What a rank did from when to when, for traces.
struct Span {
  enum Kind { compute, wait, operation, meeting };  // meeting: a rank's own time for one
  Kind kind = compute;
  int rank = 0;
  int subject = 0;  // of computing: as in the task; else the operation
  double begin = 0, seconds = 0;
};

struct RankTimes {
  double end = 0;  // of its last task
  double computing = 0, waiting = 0;
  double bytes_sent = 0;
};

class VirtualRanks {
 public:
  // `order`: in which messages pass a port.
  VirtualRanks(int ranks, const Network& network, ComputeLaw law = {},
               Order order = Order::as_asked)
      : order_(order),
        ports_(ranks, network),
        urgent_ports_(ranks, network),
        law_(std::move(law)),
        ranks_(static_cast<std::size_t>(ranks)) {}

  // Returns its number for tasks.
  int add(VirtualOperation operation);
  // Is told of every span as it ends; empty: nobody.
  void set_observer(std::function<void(const Span&)> observer) { observer_ = std::move(observer); }

  // All ranks do the tasks, `rounds` times, and then those of `ending`, in which what belongs to
  // the last round has the number of its group; the result by rank. Throws std::logic_error when
  // ranks wait for each other for ever. Once per object.
  std::vector<RankTimes> run(const std::vector<Task>& tasks, int rounds = 1,
                             const std::vector<Task>& ending = {});
  // Messages that passed.
  std::int64_t messages() const { return messages_; }

 private:
  // operation < 0: the rank goes on; message < 0: the rank has done the additions of a step; else
  // the message of this rank has arrived, or only passed the ports.
  struct Event {
    std::int32_t operation = -1, rank = 0, message = -1;
    bool passed_only = false;
  };
  // Of an operation on a rank.
  struct Place {
    std::int32_t step = 0, posted = 0, open = 0;
    std::int32_t round = 0;  // starts so far
    bool done = false;
    double began = 0;
  };
  struct Rank {
    std::size_t task = 0;  // counted on over rounds
    std::int32_t waits_for = -1;
    double wait_began = 0;
    double adding_until = 0;              // one thing at a time, beside the tasks
    double handling = 0;                  // of messages, by which computing will take longer
    int early = -1;                       // the group that it does before its turn
    std::size_t back = 0;                 // the task at which it goes on then
    std::vector<std::size_t> done_early;  // by group: the round that goes without it
    std::vector<int> offered;             // groups that are left
    std::size_t offered_round = 0;        // in which they were
    RankTimes times = {};
  };

  Place& place(int operation, int rank) {
    return places_[static_cast<std::size_t>(operation) * ranks_.size() +
                   static_cast<std::size_t>(rank)];
  }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void take(const Event& event);
  void go_on(int rank);
  const Task* next_task(Rank& here) const;
  bool need_not_wait(int operation, int rank);
  bool may_do_another(const Rank& here) const;
  bool is_ready(std::size_t group, int rank);
  void do_early(Rank& here, std::size_t group, std::size_t turn);
  bool does_another(int rank);
  bool does_offered(int rank);
  void compute(Span::Kind kind, int rank, int subject, double seconds);
  void compute_longer(int rank, double seconds);
  void start(int operation, int rank);
  void enter_step(int operation, int rank);
  void send(int operation, int rank, std::int32_t number);
  void begin_messages(int from, int to);
  void free_ports(const Event& event);
  void close(int operation, int rank);
  void complete(int operation, int rank);
  void tell(Span::Kind kind, int rank, int subject, double begin);

  const Order order_;
  Ports ports_;
  UrgentPorts urgent_ports_;
  ComputeLaw law_;
  std::vector<VirtualOperation> operations_;
  std::vector<std::int64_t> met_;  // by operation: starts of meetings, over all ranks and rounds
  std::vector<Place> places_;      // by operation, then rank
  std::vector<Rank> ranks_;
  const std::vector<Task>*tasks_ = nullptr, *ending_ = nullptr;
  std::size_t rounds_end_ = 0, end_task_ = 0;                // counted as in Rank
  std::vector<std::pair<std::size_t, std::size_t>> groups_;  // begin and end in tasks_
  EventQueue<Event> events_;
  double now_ = 0;
  std::int64_t messages_ = 0;
  std::function<void(const Span&)> observer_;
};

}  // namespace tutti::sim
