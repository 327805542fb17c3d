// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/simulate.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/sim/virtual_ranks.h"
#include "tutti/graph/op.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

namespace tutti {
namespace {

using sim::Task;

// What a rank does in a step: subjects of computing are nodes, and operations have a node each.
struct RankPart {
  std::vector<Task> tasks;
  std::vector<Task> ending;  // after the last step
  std::vector<int> nodes;    // by operation
};

class Rehearsal {
 public:
  Rehearsal(const CompiledStep& step, sim::VirtualRanks& ranks) : step_(step), ranks_(ranks) {}

  RankPart part(const std::vector<double>& seconds) {
    const LateUpdates& late = step_.late;
    for (int i = 0; i < step_.size(); ++i)
      if (step_.is_message(i)) add_operation(i);
    if (late.possible) find_groups();
    for (int i = 0; i < step_.first_update; ++i) {
      if (late.possible) catch_up(i, seconds);
      if (i == step_.update_from()) wait_for_loss();
      if (late.possible && i < late.last_from) do_early(i);
      visit(i, seconds);
    }
    if (step_.update_from() == step_.first_update) wait_for_loss();
    const auto update = static_cast<std::ptrdiff_t>(part_.tasks.size());
    for (int i = step_.first_update; i < step_.size(); ++i) visit_update(i, seconds);
    for (std::size_t k = 0; k < part_.nodes.size(); ++k) wait(static_cast<int>(k));
    if (late.possible) {
      part_.ending.assign(part_.tasks.begin() + update, part_.tasks.end());
      part_.tasks.erase(part_.tasks.begin() + update, part_.tasks.end());
    }
    return std::move(part_);
  }

 private:
  // What the step before has left to be done before a node.
  void catch_up(int node, const std::vector<double>& seconds) {
    const LateUpdates& late = step_.late;
    const auto index = static_cast<std::size_t>(node);
    for (const NodeId update : late.before[index]) visit_update(update, seconds);
    for (const auto* messages : {&late.results[index], &late.over[index]})
      for (const NodeId message : *messages) wait(operations_.at(message));
  }

  // What can be done of the step's own update before a node.
  void do_early(int node) {
    bool offered = false;
    for (std::size_t k = 0; k < group_from_.size(); ++k) {
      if (group_from_[k] == node) part_.tasks.push_back({Task::offer, static_cast<int>(k)});
      offered |= group_from_[k] <= node;
    }
    if (offered) part_.tasks.push_back({Task::look});
  }

  // An update and its messages belong together, where they may be left. What depends on several
  // updates goes by itself, and not early.
  void find_groups() {
    const LateUpdates& late = step_.late;
    for (const std::vector<NodeId>& updates : late.before)
      for (const NodeId update : updates) {
        const std::set<int> needed = groups_needed_by(update);
        const int last = static_cast<int>(group_from_.size()) - 1;
        if (last < 0 || needed != std::set{last})
          group_from_.push_back(needed.empty() ? 0 : step_.size());
        group_from_.back() =
            std::max(group_from_.back(), late.from[static_cast<std::size_t>(update)]);
        group_of_[update] = static_cast<int>(group_from_.size()) - 1;
      }
  }

  // Those that make what a node of the update reads.
  std::set<int> groups_needed_by(int update) const {
    const Graph& graph = step_.graph;
    std::set<int> groups;
    for (const ValueId id : graph.nodes[static_cast<std::size_t>(update)].inputs)
      if (id != no_value && graph.value(id).producer >= step_.first_update)
        groups.insert(group_of_.at(graph.value(id).producer));
    return groups;
  }

  void visit_update(int update, const std::vector<double>& seconds) {
    const std::size_t first = part_.tasks.size();
    visit(update, seconds);
    if (const auto group = group_of_.find(update); group != group_of_.end())
      for (std::size_t k = first; k < part_.tasks.size(); ++k) part_.tasks[k].group = group->second;
  }

  void visit(int node, const std::vector<double>& seconds) {
    const auto index = static_cast<std::size_t>(node);
    for (const ValueId id : step_.graph.nodes[index].inputs)
      if (id != no_value) wait_for(id);
    if (step_.is_message(node))
      start(node);
    else if (seconds[index] > 0)
      part_.tasks.push_back({Task::compute, node, seconds[index]});
  }

  void add_operation(int node) {
    const int operation = ranks_.add(operation_of(node));
    check(operation == static_cast<int>(part_.nodes.size()), "operations are counted from 0");
    part_.nodes.push_back(node);
    operations_[node] = operation;
  }

  void start(int node) {
    part_.tasks.push_back({Task::start, operations_.at(node)});
    if (!step_.messages.overlap) wait(operations_.at(node));
  }

  void wait_for(ValueId value) {
    const auto found = operations_.find(step_.graph.value(value).producer);
    if (found != operations_.end()) wait(found->second);
  }

  // Whether the loss is a number is seen before weights change.
  void wait_for_loss() {
    const Graph& graph = step_.graph;
    if (!graph.results.empty()) wait_for(graph.results[0]);
  }
  void wait(int operation) { part_.tasks.push_back({Task::wait, operation}); }

  sim::VirtualOperation operation_of(int node) {
    const MessageKind kind = step_.graph.nodes[static_cast<std::size_t>(node)].op->message.kind;
    if (kind == MessageKind::send || kind == MessageKind::receive)
      throw Error("{}: only collectives are simulated, not single messages",
                  step_.name_of_node(node));
    const MessageOptions& messages = step_.messages;
    const Network& network = step_.facts.network;
    const int ranks = step_.facts.size;
    const Collective chosen = collectives_of(kind).find(step_.implementation(node));
    const Type& type = step_.graph.type(operand_of(step_.node(node)));
    const std::int64_t count = elements(type.shape);
    const int urgency = step_.urgency(node);
    if (!chosen.schedule)
      return {nullptr,
              chosen.seconds(network, ranks, count * bytes_of(type.dtype), messages.fixed_order)};
    // Vectors of equal length travel alike.
    auto& schedule = schedules_[{kind, chosen.name, count, type.dtype}];
    const int node_ranks = messages.node_ranks > 0 ? messages.node_ranks : network.node_ranks;
    if (schedule == nullptr)
      schedule = std::make_shared<sim::MatchedSchedule>(sim::matched(
          chosen.schedule({ranks, count, type.dtype, node_ranks}, messages.fixed_order)));
    return {schedule, 0, urgency};
  }

  const CompiledStep& step_;
  sim::VirtualRanks& ranks_;
  RankPart part_;
  // By group of tasks that belong to the step before: the node from which on that could do them.
  std::vector<int> group_from_;
  std::map<NodeId, int> group_of_;
  std::map<NodeId, int> operations_;
  std::map<std::tuple<MessageKind, std::string, std::int64_t, DType>,
           std::shared_ptr<const sim::MatchedSchedule>>
      schedules_;
};

// Spans under the names of nodes.
void add_event(TraceEvents& trace, const CompiledStep& step, const RankPart& part,
               const sim::Span& span) {
  const bool computes = span.kind == sim::Span::compute;
  const int node = computes ? span.subject : part.nodes[static_cast<std::size_t>(span.subject)];
  const bool waits = span.kind == sim::Span::wait, travels = span.kind == sim::Span::operation;
  if (waits && span.seconds == 0) return;
  trace.push_back({.name = (waits ? "wait for " : "") + step.name_of_node(node),
                   .detail = step.implementation(node),
                   .rank = span.rank,
                   .stream = travels ? TraceEvent::messages : TraceEvent::compute,
                   .start = span.begin,
                   .seconds = span.seconds,
                   .bytes = computes ? 0 : step.graph.value(operand_of(step.node(node))).bytes()});
}

}  // namespace

StepSimulation simulate_step(const CompiledStep& step, const std::vector<double>& seconds,
                             const SimulateOptions& options) {
  // Between nodes what is urgent overtakes, as where processes exchange pieces.
  const Network& network = step.facts.network;
  const int count = step.facts.size;
  const bool overtake = step.late.possible && network.node_ranks < count;
  sim::VirtualRanks ranks(count, network, options.law,
                          overtake ? sim::Order::by_urgency : sim::Order::as_asked);
  const RankPart part = Rehearsal(step, ranks).part(seconds);
  if (options.trace != nullptr)
    ranks.set_observer([&](const sim::Span& span) {
      if (span.rank < options.traced_ranks) add_event(*options.trace, step, part, span);
    });
  const std::vector<sim::RankTimes> times = ranks.run(part.tasks, options.steps, part.ending);
  StepSimulation result{.messages = ranks.messages()};
  for (const sim::RankTimes& rank : times) {
    result.step_seconds = std::max(result.step_seconds, rank.end / options.steps);
    result.longest_compute_seconds =
        std::max(result.longest_compute_seconds, rank.computing / options.steps);
    const auto all = static_cast<double>(times.size()) * options.steps;
    result.compute_seconds += rank.computing / all;
    result.exposed_seconds += rank.waiting / all;
    result.bytes_sent += rank.bytes_sent / all;
  }
  return result;
}

}  // namespace tutti
