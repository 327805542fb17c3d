// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/price.h"

#include "tutti/comm/collectives/walk.h"

#include <algorithm>

namespace tutti::collectives {
namespace {

class Clocks final : public Visitor {
 public:
  Clocks(const Problem& problem, const Network& network)
      : element_bytes_(static_cast<double>(bytes_of(problem.dtype))),
        network_(network),
        ranks_(static_cast<std::size_t>(problem.ranks)) {}

  void message(int from, int to, const Action& out, const Action&) override {
    Rank &sender = at(from), &receiver = at(to);
    const LinkCost& link = network_.link(from, to);
    const double all = link.message_seconds(bytes(out));
    const double seconds = std::max(0.0, all - link.latency_seconds);  // the ports are busy
    const double begins = std::max({sender.now, receiver.now, sender.out_free, receiver.in_free});
    sender.out_free = receiver.in_free = begins + seconds;
    const double ends = begins + all;
    sender.step_ends = std::max(sender.step_ends, ends);
    receiver.step_ends = std::max(receiver.step_ends, ends);
  }

  // A rank adds at the speed of its node.
  void step(int rank, const Action* begin, const Action* end) override {
    Rank& here = at(rank);
    here.now = std::max(here.now, here.step_ends);
    for (const Action* action = begin; action != end; ++action)
      if (action->kind != Action::send && action->kind != Action::receive)
        here.now += network_.within.add_seconds(bytes(*action));
  }

  double latest() const {
    double seconds = 0;
    for (const Rank& rank : ranks_) seconds = std::max(seconds, rank.now);
    return seconds;
  }

 private:
  struct Rank {
    double now = 0;        // when its step began
    double step_ends = 0;  // when the messages of the step have arrived, as far as known
    double out_free = 0, in_free = 0;
  };
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  double bytes(const Action& action) const {
    return static_cast<double>(action.segment.count()) * element_bytes_;
  }

  const double element_bytes_;
  const Network& network_;
  std::vector<Rank> ranks_;
};

}  // namespace

double price(const Schedule& schedule, const Network& network) {
  Clocks clocks(schedule.problem, network);
  walk(schedule, clocks);
  return clocks.latest();
}

}  // namespace tutti::collectives
