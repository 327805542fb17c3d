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

// A compiled step, and its messages as operations.
struct SimulatedProgram {
  const TimedStep* timed = nullptr;
  std::vector<int> operations;
  const CompiledStep& step() const { return *timed->step; }
};

// One rank's way through its steps.
class RankDriver {
 public:
  RankDriver(int rank, const std::vector<SimulatedProgram>& programs, int steps,
             sim::VirtualRanks& ranks, VirtualMessages& messages)
      : rank_(rank), programs_(programs), steps_(steps), ranks_(ranks), messages_(messages) {
    for (const SimulatedProgram& program : programs)
      walks_.emplace_back(program.step().instructions);
    begin();
  }

  // Goes on until the rank computes, waits or ends.
  void go_on() {
    while (true) {
      if (waits_ && !wait_is_over()) return;
      waits_ = false;
      if (!take(walks_[program_].next(is_ready_))) return;
    }
  }

  const SimulatedProgram& program() const { return programs_[program_]; }

 private:
  using Next = Walk::Next;

  int operation(int message) const {
    return program().operations[static_cast<std::size_t>(message)];
  }

  void begin() {
    const bool may_postpone = programs_.size() == 1 && step_ + 1 < steps_;
    walks_[program_].begin(0, program().step().size(), may_postpone);
  }

  // Does what the walk says; false: the rank can't go on at once.
  bool take(const Next& next) {
    if (next.kind == Next::compute) {
      const double seconds = program().timed->seconds[static_cast<std::size_t>(next.subject)];
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
    const CompiledStep& step = program().step();
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
    program_ = (program_ + 1) % programs_.size();
    if (program_ == 0 && ++step_ == steps_) {
      ranks_.end(rank_);
      return false;
    }
    begin();
    return true;
  }

  const int rank_;
  const std::vector<SimulatedProgram>& programs_;
  const int steps_;
  sim::VirtualRanks& ranks_;
  VirtualMessages& messages_;
  std::vector<Walk> walks_;  // by program
  std::size_t program_ = 0;
  int step_ = 0;
  bool waits_ = false;
  int waited_ = 0;  // a message
  const Walk::IsReady is_ready_ = [this](int message) {
    return ranks_.is_ready(operation(message), rank_);
  };
};

// An endpoint's way through the steps of all ranks: it serves every rank that has pushed.
class EndpointDriver {
 public:
  EndpointDriver(int rank, const std::vector<SimulatedProgram>& services, int steps,
                 sim::VirtualRanks& ranks, VirtualMessages& messages)
      : rank_(rank), steps_(steps), ranks_(ranks), messages_(messages) {
    for (const SimulatedProgram& program : services) {
      services_.push_back({&program, Walk(program.step().instructions)});
      begin(services_.back());
    }
  }

  // Goes on until the endpoint computes, waits or ends.
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
    const SimulatedProgram* program = nullptr;
    Walk walk;
    int step = 0;
    int waited = -1;  // an operation
  };

  void begin(Service& service) { service.walk.begin(0, service.program->step().size(), false); }

  bool may_go_on(Service& service) {
    if (service.waited < 0) return true;
    if (ranks_.try_wait(service.waited, rank_) != sim::VirtualRanks::Wait::over) return false;
    service.waited = -1;
    return true;
  }

  // Carries out one instruction of a service; false: the endpoint computes.
  bool take(Service& service, int peer) {
    const SimulatedProgram& program = *service.program;
    const auto operation = [&](int message) {
      return program.operations[static_cast<std::size_t>(message)];
    };
    const Walk::Next next =
        service.walk.next([&](int message) { return ranks_.is_ready(operation(message), rank_); });
    if (next.kind == Walk::Next::compute) {
      const double seconds = program.timed->seconds[static_cast<std::size_t>(next.subject)];
      if (seconds > 0) ranks_.compute(rank_, next.subject, seconds);
      return seconds == 0;
    }
    if (next.kind == Walk::Next::start) {
      const NodeId id = program.step().instructions.nodes[static_cast<std::size_t>(next.subject)];
      ranks_.start_single(operation(next.subject), rank_,
                          messages_.end_of(program.step(), id, peer));
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

// Adds a span to the trace under the name of its node.
void add_event(TraceEvents& trace, const SimulatedProgram& program, const sim::Span& span) {
  const CompiledStep& step = program.step();
  const bool computes = span.kind == sim::Span::compute;
  int node = span.subject;
  if (!computes) {
    const auto own = std::find(program.operations.begin(), program.operations.end(), span.subject);
    if (own == program.operations.end()) return;  // the operation is of the micro-batch before
    node = step.instructions.nodes[static_cast<std::size_t>(own - program.operations.begin())];
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
  const TransportFacts& facts = roles.front().micro_batches.front().step->facts;
  check(static_cast<int>(role_of.size()) == facts.size, "every rank has a role");
  sim::VirtualRanks ranks(facts.size, facts.network, options.law, static_cast<int>(store.size()));
  VirtualMessages messages;
  std::vector<std::vector<SimulatedProgram>> programs(roles.size());
  for (std::size_t k = 0; k < roles.size(); ++k) {
    std::vector<int> of_role;
    for (int rank = 0; rank < facts.size; ++rank)
      if (role_of[static_cast<std::size_t>(rank)] == static_cast<int>(k)) of_role.push_back(rank);
    for (const TimedStep& timed : roles[k].micro_batches)
      programs[k].push_back({&timed, messages.operations_of(*timed.step, of_role)});
  }
  std::vector<std::vector<SimulatedProgram>> services(store.size());
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
        rank, programs[static_cast<std::size_t>(role_of[static_cast<std::size_t>(rank)])],
        options.steps, ranks, messages));
  if (options.trace != nullptr)
    ranks.set_observer([&](const sim::Span& span) {
      if (span.rank < std::min(options.traced_ranks, facts.size))
        add_event(*options.trace, drivers[static_cast<std::size_t>(span.rank)]->program(), span);
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
