// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/simulate.h"

#include "tutti/cost/virtual_messages.h"
#include "tutti/exec/walk.h"
#include "tutti/graph/op.h"

#include <algorithm>
#include <memory>
#include <string>

namespace tutti {
namespace {

// A pass, and its messages as operations.
struct SimulatedPass {
  const TimedStep* timed = nullptr;
  std::vector<int> operations;
  const CompiledStep& step() const { return *timed->step; }
};

// One rank's way through its steps.
class RankDriver {
 public:
  RankDriver(int rank, const std::vector<SimulatedPass>& passes, int steps,
             sim::VirtualRanks& ranks, VirtualMessages& messages)
      : rank_(rank), passes_(passes), steps_(steps), ranks_(ranks), messages_(messages) {
    for (const SimulatedPass& pass : passes) walks_.emplace_back(pass.step().instructions);
    begin();
  }

  // Until the rank computes, waits or ends.
  void go_on() {
    while (true) {
      if (waits_ && !wait_is_over()) return;
      waits_ = false;
      if (!take(walks_[pass_].next(is_ready_))) return;
    }
  }

  const SimulatedPass& pass() const { return passes_[pass_]; }

 private:
  using Next = Walk::Next;

  int operation(int message) const { return pass().operations[static_cast<std::size_t>(message)]; }

  void begin() {
    const bool may_leave = passes_.size() == 1 && step_ + 1 < steps_;
    walks_[pass_].begin(0, pass().step().size(), may_leave);
  }

  // False: the rank can't go on at once.
  bool take(const Next& next) {
    if (next.kind == Next::compute) {
      const double seconds = pass().timed->seconds[static_cast<std::size_t>(next.subject)];
      if (seconds > 0) ranks_.compute(rank_, next.subject, seconds);
      return seconds == 0;
    }
    if (next.kind == Next::start) {
      start(next.subject);
    } else if (next.kind == Next::wait) {
      waits_ = true;
      waited_ = next.subject;
    } else if (next.kind == Next::wait_any) {
      ranks_.wait(rank_, operation(next.subject));
      return false;
    } else {
      return begin_next();
    }
    return true;
  }

  void start(int message) {
    const CompiledStep& step = pass().step();
    const NodeId id = step.instructions.nodes[static_cast<std::size_t>(message)];
    const Node& node = step.node(id);
    const MessageKind kind = node.op->message.kind;
    if (kind != MessageKind::send && kind != MessageKind::receive)
      return ranks_.start(operation(message), rank_);
    const std::string& axes = step.names[static_cast<std::size_t>(id)].group;
    const auto place =
        static_cast<int>(node.settings.integer(kind == MessageKind::send ? "to" : "from"));
    const int peer = axes == store_axis
                         ? place
                         : step.mesh.members(rank_, axes_in(axes))[static_cast<std::size_t>(place)];
    ranks_.start_single(operation(message), rank_, messages_.end_of(step, id, peer));
  }

  bool wait_is_over() {
    const auto wait = ranks_.try_wait(operation(waited_), rank_);
    if (wait == sim::VirtualRanks::Wait::not_yet) ranks_.wait(rank_, operation(waited_));
    return wait == sim::VirtualRanks::Wait::over;
  }

  bool begin_next() {
    pass_ = (pass_ + 1) % passes_.size();
    if (pass_ == 0 && ++step_ == steps_) {
      ranks_.end(rank_);
      return false;
    }
    begin();
    return true;
  }

  const int rank_;
  const std::vector<SimulatedPass>& passes_;
  const int steps_;
  sim::VirtualRanks& ranks_;
  VirtualMessages& messages_;
  std::vector<Walk> walks_;  // by pass
  std::size_t pass_ = 0;
  int step_ = 0;
  bool waits_ = false;
  int waited_ = 0;  // a message
  const Walk::IsReady is_ready_ = [this](int message) {
    return ranks_.is_ready(operation(message), rank_);
  };
};

// An endpoint's way through the steps of all ranks: whoever has pushed is served.
class EndpointDriver {
 public:
  EndpointDriver(int rank, const std::vector<SimulatedPass>& services, int steps,
                 sim::VirtualRanks& ranks, VirtualMessages& messages)
      : rank_(rank), steps_(steps), ranks_(ranks), messages_(messages) {
    for (const SimulatedPass& pass : services) {
      services_.push_back({&pass, Walk(pass.step().instructions)});
      begin(services_.back());
    }
  }

  // Until the endpoint computes, waits or ends.
  void go_on() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < services_.size(); ++k) {
        Service& service = services_[k];
        if (service.step == steps_ || !may_go_on(service)) continue;
        moved = true;
        if (!take(service, static_cast<int>(k))) return;
      }
    }
    for (const Service& service : services_)
      if (service.step < steps_) return ranks_.wait(rank_, service.waited);
    ranks_.end(rank_);
  }

 private:
  struct Service {
    const SimulatedPass* pass = nullptr;
    Walk walk;
    int step = 0;
    int waited = -1;  // an operation
  };

  void begin(Service& service) { service.walk.begin(0, service.pass->step().size(), false); }

  bool may_go_on(Service& service) {
    if (service.waited < 0) return true;
    if (ranks_.try_wait(service.waited, rank_) != sim::VirtualRanks::Wait::over) return false;
    service.waited = -1;
    return true;
  }

  // One instruction; false: the endpoint computes.
  bool take(Service& service, int peer) {
    const SimulatedPass& pass = *service.pass;
    const auto operation = [&](int message) {
      return pass.operations[static_cast<std::size_t>(message)];
    };
    const Walk::Next next =
        service.walk.next([&](int message) { return ranks_.is_ready(operation(message), rank_); });
    if (next.kind == Walk::Next::compute) {
      const double seconds = pass.timed->seconds[static_cast<std::size_t>(next.subject)];
      if (seconds > 0) ranks_.compute(rank_, next.subject, seconds);
      return seconds == 0;
    }
    if (next.kind == Walk::Next::start) {
      const NodeId id = pass.step().instructions.nodes[static_cast<std::size_t>(next.subject)];
      ranks_.start_single(operation(next.subject), rank_, messages_.end_of(pass.step(), id, peer));
    } else if (next.kind == Walk::Next::wait) {
      service.waited = operation(next.subject);
    } else if (++service.step < steps_) {
      begin(service);
    }
    return true;
  }

  const int rank_, steps_;
  sim::VirtualRanks& ranks_;
  VirtualMessages& messages_;
  std::vector<Service> services_;  // by rank
};

// Spans under the names of nodes.
void add_event(TraceEvents& trace, const SimulatedPass& pass, const sim::Span& span) {
  const CompiledStep& step = pass.step();
  const bool computes = span.kind == sim::Span::compute;
  int node = span.subject;
  if (!computes) {
    const auto own = std::find(pass.operations.begin(), pass.operations.end(), span.subject);
    if (own == pass.operations.end()) return;  // of the pass before
    node = step.instructions.nodes[static_cast<std::size_t>(own - pass.operations.begin())];
  }
  const bool waits = span.kind == sim::Span::wait, travels = span.kind == sim::Span::operation;
  const bool carries = !computes && has_operand(step.node(node));
  if ((waits && span.seconds == 0) || (travels && !carries)) return;
  trace.push_back({.name = (waits ? "wait for " : "") + step.name_of_node(node),
                   .detail = step.implementation(node),
                   .rank = span.rank,
                   .stream = travels ? TraceEvent::messages : TraceEvent::compute,
                   .start = span.begin,
                   .seconds = span.seconds,
                   .bytes = carries ? step.graph.value(operand_of(step.node(node))).bytes() : 0});
}

StepSimulation summary(const std::vector<sim::RankTimes>& times, int steps) {
  StepSimulation result;
  for (const sim::RankTimes& rank : times) {
    result.step_seconds = std::max(result.step_seconds, rank.end / steps);
    result.longest_compute_seconds =
        std::max(result.longest_compute_seconds, rank.computing / steps);
    const auto all = static_cast<double>(times.size()) * steps;
    result.compute_seconds += rank.computing / all;
    result.exposed_seconds += rank.waiting / all;
    result.bytes_sent += rank.bytes_sent / all;
  }
  return result;
}

}  // namespace

StepSimulation simulate_steps(const std::vector<SimulatedRole>& roles,
                              const std::vector<int>& role_of, const SimulateOptions& options,
                              const SimulatedStore& store) {
  const TransportFacts& facts = roles.front().passes.front().step->facts;
  check(static_cast<int>(role_of.size()) == facts.size, "every rank has a role");
  sim::VirtualRanks ranks(facts.size, facts.network, options.law, static_cast<int>(store.size()));
  VirtualMessages messages;
  std::vector<std::vector<SimulatedPass>> passes(roles.size());
  for (std::size_t k = 0; k < roles.size(); ++k) {
    std::vector<int> of_role;
    for (int rank = 0; rank < facts.size; ++rank)
      if (role_of[static_cast<std::size_t>(rank)] == static_cast<int>(k)) of_role.push_back(rank);
    for (const TimedStep& timed : roles[k].passes)
      passes[k].push_back({&timed, messages.operations_of(*timed.step, of_role)});
  }
  std::vector<std::vector<SimulatedPass>> services(store.size());
  for (std::size_t k = 0; k < store.size(); ++k)
    for (int rank = 0; rank < facts.size; ++rank)
      services[k].push_back({&store[k], messages.operations_of(*store[k].step, {})});
  messages.add_to(ranks);
  std::vector<std::unique_ptr<EndpointDriver>> endpoints;
  for (std::size_t k = 0; k < store.size(); ++k)
    endpoints.push_back(std::make_unique<EndpointDriver>(
        facts.size + static_cast<int>(k), services[k], options.steps, ranks, messages));
  std::vector<std::unique_ptr<RankDriver>> drivers;
  for (int rank = 0; rank < facts.size; ++rank)
    drivers.push_back(std::make_unique<RankDriver>(
        rank, passes[static_cast<std::size_t>(role_of[static_cast<std::size_t>(rank)])],
        options.steps, ranks, messages));
  if (options.trace != nullptr)
    ranks.set_observer([&](const sim::Span& span) {
      if (span.rank < std::min(options.traced_ranks, facts.size))
        add_event(*options.trace, drivers[static_cast<std::size_t>(span.rank)]->pass(), span);
    });
  std::vector<sim::RankTimes> times = ranks.run([&](int rank) {
    if (rank < facts.size)
      drivers[static_cast<std::size_t>(rank)]->go_on();
    else
      endpoints[static_cast<std::size_t>(rank - facts.size)]->go_on();
  });
  times.resize(static_cast<std::size_t>(facts.size));
  StepSimulation result = summary(times, options.steps);
  result.messages = ranks.messages();
  return result;
}

StepSimulation simulate_step(const CompiledStep& step, const std::vector<double>& seconds,
                             const SimulateOptions& options) {
  return simulate_steps({{{{&step, seconds}}}},
                        std::vector<int>(static_cast<std::size_t>(step.facts.size)), options);
}

}  // namespace tutti
