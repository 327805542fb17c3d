// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/walk.h"

#include "tutti/core/error.h"

#include <deque>
#include <map>

namespace tutti::collectives {
namespace {

class Walk {
 public:
  Walk(const Schedule& schedule, Visitor& visitor)
      : schedule_(schedule), visitor_(visitor), places_(schedule.ranks.size()) {}

  void run() {
    for (int rank = 0; rank < schedule_.problem.ranks; ++rank) enter_step(rank);
    while (!ready_.empty()) {
      const int rank = ready_.front();
      ready_.pop_front();
      leave_step(rank);
      enter_step(rank);
    }
    for (int rank = 0; rank < schedule_.problem.ranks; ++rank)
      check(place(rank).begin == actions(rank).size(), "no rank waits for ever");
    for (const auto& [pair, queue] : offers_) check(queue.empty(), "each message has two ends");
  }

 private:
  // Where a rank is: actions [begin, end) are its phase, of which `open` messages have not met
  // their other end.
  struct Place {
    std::size_t begin = 0, end = 0;
    int open = 0;
  };

  const Actions& actions(int rank) const { return schedule_.ranks[static_cast<std::size_t>(rank)]; }
  Place& place(int rank) { return places_[static_cast<std::size_t>(rank)]; }

  void enter_step(int rank) {
    const Actions& all = actions(rank);
    Place& here = place(rank);
    if (here.begin == all.size()) return;
    here.end = here.begin;
    while (here.end < all.size() && all[here.end].phase == all[here.begin].phase) ++here.end;
    here.open = 1;  // until all are offered
    for (std::size_t i = here.begin; i < here.end; ++i)
      if (all[i].is_message()) {
        ++here.open;
        offer(rank, all[i]);
      }
    close(rank);
  }

  void leave_step(int rank) {
    Place& here = place(rank);
    const Action* first = actions(rank).data();
    visitor_.phase(rank, first + here.begin, first + here.end);
    here.begin = here.end;
  }

  // A queue holds sends that wait for receives, or the other way round.
  void offer(int rank, const Action& action) {
    const bool sends = action.kind == Action::send;
    const int from = sends ? rank : action.peer, to = sends ? action.peer : rank;
    check(from != to && action.peer >= 0 && action.peer < schedule_.problem.ranks,
          "messages go to other ranks of the job");
    std::deque<const Action*>& queue = offers_[{from, to}];
    if (queue.empty() || (queue.front()->kind == Action::send) == sends) {
      queue.push_back(&action);
      return;
    }
    const Action& other = *queue.front();
    queue.pop_front();
    check(other.segment.count() == action.segment.count(), "both ends state the same size");
    visitor_.message(from, to, sends ? action : other, sends ? other : action);
    close(from);
    close(to);
  }

  void close(int rank) {
    if (--place(rank).open == 0) ready_.push_back(rank);
  }

  const Schedule& schedule_;
  Visitor& visitor_;
  std::vector<Place> places_;
  std::map<std::pair<int, int>, std::deque<const Action*>> offers_;
  std::deque<int> ready_;
};

}  // namespace

void walk(const Schedule& schedule, Visitor& visitor) { Walk(schedule, visitor).run(); }

}  // namespace tutti::collectives
