// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/compiled_step.h"

#include "tutti/ops/barrier.h"
#include "tutti/ops/guard.h"
#include "tutti/ops/square_sum.h"
#include "tutti/ops/update.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {
namespace {

// Whether the node belongs to the update: it reads gradients that are complete, or decodes
// gradients that have travelled, or waits until no rank reads the weights any more, or decides
// whether anything is updated.
bool closes_step(const Graph& graph, const Node& node) {
  return node.op == &ops::barrier || node.op == &ops::square_sum || node.op == &ops::measure ||
         node.op == &ops::update || node.op == &ops::guard ||
         (!is_message(node) && !node.inputs.empty() && node.inputs[0] != no_value &&
          graph.value(node.inputs[0]).place.base == Base::encoded);
}

bool several_nodes(const TransportFacts& facts) { return facts.network.node_ranks < facts.size; }

bool may_postpone_updates(const CompiledStep& step) {
  const std::vector<Node>& nodes = step.graph.nodes;
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.op == &ops::update; }) &&
         step.facts.size > 1 && step.messages.overlap &&
         step.messages.across_steps.value_or(several_nodes(step.facts));
}

const std::string& wanted(MessageKind kind, const MessageOptions& messages) {
  static const std::string automatic = "auto";
  if (kind == MessageKind::broadcast) return automatic;
  if (kind == MessageKind::reduce_scatter) return messages.reduce_scatter;
  return kind == MessageKind::allgather ? messages.allgather : messages.allreduce;
}

// Names the messages of a step and chooses their algorithms. A message has the name of its node,
// with a count where several nodes have the same name; so it is equal on all ranks of its group.
class MessagePlanner {
 public:
  explicit MessagePlanner(CompiledStep& step) : step_(step) {}

  void plan(std::size_t index) {
    const Node& node = step_.graph.nodes[index];
    const std::string& axes = node.settings.text("axes");
    const MessageKind kind = node.op->message.kind;
    if (kind == MessageKind::send || kind == MessageKind::receive) {
      step_.names[index] = {axes, node.settings.text("message")};
      step_.implementations[index] = "message";
      return;
    }
    const std::string own = step_.name_of_node(static_cast<int>(index));
    const int number = count_[{axes, own}]++;
    step_.names[index] = {axes, number == 0 ? own : fmt::format("{} ({})", own, number + 1)};
    if (kind == MessageKind::barrier) {
      step_.implementations[index] = "barrier";
      return;
    }
    const Type& type = step_.graph.type(operand_of(node));
    const std::int64_t count = elements(type.shape);
    // Choosing takes long with many ranks, and vectors of equal length get the same algorithm.
    const auto [found, is_new] = choices_.try_emplace({kind, axes, type.dtype, count});
    if (is_new)
      found->second = choose(collectives_of(kind), wanted(kind, step_.messages), facts_along(axes),
                             {.dtype = type.dtype,
                              .count = count,
                              .fixed_order = step_.messages.fixed_order,
                              .node_ranks = step_.messages.node_ranks})
                          .name;
    step_.implementations[index] = found->second;
  }

 private:
  TransportFacts facts_along(const std::string& axes) const {
    check(step_.mesh.ranks() == step_.facts.size, "the mesh has the ranks of the transport");
    const std::vector<int> members = step_.mesh.members(step_.facts.rank, axes_in(axes));
    return static_cast<int>(members.size()) == step_.facts.size ? step_.facts
                                                                : facts_of(step_.facts, members);
  }

  CompiledStep& step_;
  std::map<std::pair<std::string, std::string>, int> count_;  // of messages, by axes and name
  std::map<std::tuple<MessageKind, std::string, DType, std::int64_t>, std::string> choices_;
};

}  // namespace

List<Collective> collectives_of(MessageKind kind) {
  check(kind != MessageKind::none && kind != MessageKind::send && kind != MessageKind::receive,
        "the message is a collective");
  if (kind == MessageKind::broadcast) return broadcasts();
  if (kind == MessageKind::reduce_scatter) return reduce_scatters();
  return kind == MessageKind::allgather ? allgathers() : allreduces();
}

bool CompiledStep::is_message(int index) const { return tutti::is_message(node(index)); }

std::string CompiledStep::name_of_node(int index) const {
  const Node& own = node(index);
  return own.name.empty() ? own.op->name : own.op->name + " of " + own.name;
}

CompiledStep compiled(Graph graph, MemoryPlan memory, const KernelTable& kernels,
                      const MessageOptions& messages, const Mesh& mesh,
                      const TransportFacts& facts) {
  CompiledStep step{.graph = std::move(graph),
                    .memory = std::move(memory),
                    .messages = messages,
                    .mesh = mesh,
                    .facts = facts};
  const std::vector<Node>& nodes = step.graph.nodes;
  step.first_update = static_cast<int>(
      std::find_if(nodes.begin(), nodes.end(),
                   [&](const Node& node) { return closes_step(step.graph, node); }) -
      nodes.begin());
  LateUpdates late;
  if (may_postpone_updates(step))
    late = plan_late_updates(step.graph, step.memory, step.first_update,
                             [](const Node& node) { return is_message(node); });
  step.urgencies = late.possible ? late.urgency : std::vector<int>(nodes.size());
  step.instructions = instructions_of(step.graph, late,
                                      {.first_update = step.first_update,
                                       .overlap = messages.overlap,
                                       // Over a network the messages of other updates would take
                                       // the line from more urgent ones.
                                       .waits_usefully = !several_nodes(facts)});
  step.implementations.resize(nodes.size());
  step.names.resize(nodes.size());
  MessagePlanner planner(step);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_message(nodes[i]))
      planner.plan(i);
    else
      step.implementations[i] =
          nodes[i].op->view ? "view" : kernels.choose(step.graph, nodes[i]).name;
  }
  return step;
}

}  // namespace tutti
