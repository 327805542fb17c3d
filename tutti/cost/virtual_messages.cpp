// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/virtual_messages.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/graph/op.h"

namespace tutti {
namespace {

const MessageName& name_of(const CompiledStep& step, NodeId node) {
  return step.names[static_cast<std::size_t>(node)];
}
bool is_single(const CompiledStep& step, NodeId node) {
  const MessageKind kind = step.node(node).op->message.kind;
  return kind == MessageKind::send || kind == MessageKind::receive;
}
// Whether the message travels by a schedule; else ranks meet.
bool has_schedule(const CompiledStep& step, NodeId node) {
  const MessageKind kind = step.node(node).op->message.kind;
  return kind != MessageKind::barrier && !is_single(step, node) &&
         collectives_of(kind).find(step.implementation(node)).schedule;
}

}  // namespace

std::vector<int> VirtualMessages::operations_of(const CompiledStep& step,
                                                const std::vector<int>& ranks) {
  std::vector<int> numbers;
  for (const NodeId node : step.instructions.nodes) {
    if (is_single(step, node)) {
      numbers.push_back(static_cast<int>(operations_.size()));
      operations_.push_back({.schedules = {}, .single = true});
      continue;
    }
    const MessageKind kind = step.node(node).op->message.kind;
    const auto [found, is_new] =
        numbers_.try_emplace({name_of(step, node), kind}, static_cast<int>(operations_.size()));
    if (is_new) operations_.push_back(operation_of(step, node));
    numbers.push_back(found->second);
    add_schedules(step, node, ranks, operations_[static_cast<std::size_t>(found->second)]);
  }
  return numbers;
}

void VirtualMessages::add_to(sim::VirtualRanks& ranks) const {
  for (const sim::VirtualOperation& operation : operations_)
    if (operation.single)
      ranks.add_single();
    else
      ranks.add(operation);
}

sim::MessageEnd VirtualMessages::end_of(const CompiledStep& step, NodeId id, int peer) {
  const Node& node = step.node(id);
  const auto [number, is_new] =
      singles_.try_emplace(name_of(step, id), static_cast<int>(singles_.size()));
  return {.message = number->second,
          .sends = node.op->message.kind == MessageKind::send,
          .peer = peer,
          .bytes = static_cast<double>(step.graph.value(operand_of(node)).bytes()),
          .urgency = step.urgency(id)};
}

sim::VirtualOperation VirtualMessages::operation_of(const CompiledStep& step, NodeId node) {
  const auto groups = groups_of(step, name_of(step, node).group);
  sim::VirtualOperation made{.schedules = {}, .urgency = step.urgency(node), .groups = groups};
  const MessageKind kind = step.node(node).op->message.kind;
  if (kind == MessageKind::barrier) return made;
  if (has_schedule(step, node)) {
    made.schedules.resize(groups == nullptr ? 1 : groups->members.size());
  } else {
    const Value& carried = step.graph.value(operand_of(step.node(node)));
    made.own_seconds =
        collectives_of(kind)
            .find(step.implementation(node))
            .seconds(step.facts.network, step.mesh.size(axes_in(name_of(step, node).group)),
                     carried.bytes(), step.messages.fixed_order);
  }
  return made;
}

// Adds the schedules of the groups in which the ranks are.
void VirtualMessages::add_schedules(const CompiledStep& step, NodeId node,
                                    const std::vector<int>& ranks,
                                    sim::VirtualOperation& operation) {
  if (!has_schedule(step, node)) return;
  for (const int rank : ranks) {
    const std::size_t group =
        operation.groups == nullptr
            ? 0
            : static_cast<std::size_t>(operation.groups->group[static_cast<std::size_t>(rank)]);
    auto& schedule = operation.schedules[group];
    if (schedule == nullptr) schedule = schedule_of(step, node, operation.groups.get(), group);
    if (operation.groups == nullptr) return;
  }
}

std::shared_ptr<const sim::MatchedSchedule> VirtualMessages::schedule_of(
    const CompiledStep& step, NodeId node, const sim::RankGroups* groups, std::size_t group) {
  const MessageKind kind = step.node(node).op->message.kind;
  const Collective chosen = collectives_of(kind).find(step.implementation(node));
  const Type& type = step.graph.type(operand_of(step.node(node)));
  TransportFacts facts = step.facts;
  if (groups != nullptr) {
    facts.rank = groups->members[group].front();
    facts = facts_of(facts, groups->members[group]);
  }
  const int given = step.messages.node_ranks;
  const collectives::Problem problem{facts.size, elements(type.shape), type.dtype,
                                     given > 0 ? given : facts.network.node_ranks};
  // Vectors of equal length travel alike.
  auto& schedule =
      schedules_[{kind, chosen.name, problem.count, type.dtype, facts.size, problem.node_ranks}];
  if (schedule == nullptr)
    schedule = std::make_shared<sim::MatchedSchedule>(
        sim::matched(chosen.schedule(problem, step.messages.fixed_order)));
  return schedule;
}

// nullptr: all ranks are one group.
std::shared_ptr<const sim::RankGroups> VirtualMessages::groups_of(const CompiledStep& step,
                                                                  const std::string& axes) {
  const auto [found, is_new] = groups_.try_emplace(axes);
  if (is_new && step.mesh.size(axes_in(axes)) < step.facts.size)
    found->second = std::make_shared<sim::RankGroups>(sim::groups_along(step.mesh, axes_in(axes)));
  return found->second;
}

}  // namespace tutti
