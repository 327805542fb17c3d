// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/instructions.h"

#include "tutti/graph/op.h"

#include <algorithm>

namespace tutti {
namespace {

class Lister {
 public:
  Lister(const Graph& graph, const LateUpdates& late, const InstructionOptions& options)
      : graph_(graph), late_(late), options_(options) {
    made_.waits_usefully = options.waits_usefully;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      made_.numbers.push_back(-1);
      if (!is_message(graph.nodes[i])) continue;
      made_.numbers.back() = static_cast<int>(made_.nodes.size());
      made_.nodes.push_back(static_cast<NodeId>(i));
    }
  }

  Instructions list() {
    const int nodes = static_cast<int>(graph_.nodes.size()), first = options_.first_update;
    if (late_.possible) make_moves();
    for (int node = 0; node < first; ++node) {
      made_.places.push_back(here());
      if (late_.possible && node == late_.first_from) postpone(node);
      if (late_.possible) catch_up(node);
      visit(node);
    }
    if (late_.possible && late_.first_from == first) postpone(first);
    made_.first_update = here();
    for (int node = first; node < nodes; ++node) {
      made_.places.push_back(here());
      const int begin = here();
      visit(node);
      if (!late_.possible) continue;
      moved(node).begin = begin;
      moved(node).end = here();
      moved(node).earliest = made_.places[at(late_.from[at(node)])];
    }
    made_.places.push_back(here());
    made_.end = here();
    if (late_.possible) wait_when_left();
    return std::move(made_);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  int here() const { return static_cast<int>(made_.list.size()); }
  Move& moved(NodeId node) { return made_.moves[at(node - options_.first_update)]; }
  const Node& node(NodeId id) const { return graph_.nodes[at(id)]; }

  void add(Instruction::Kind kind, int subject) { made_.list.push_back({kind, false, subject}); }
  // Adds a wait for the message that a node is; for other nodes nothing is added.
  void wait(NodeId id, bool complete) {
    if (id != no_node && made_.numbers[at(id)] >= 0)
      made_.list.push_back({Instruction::wait, complete, made_.numbers[at(id)]});
  }

  void make_moves() {
    made_.moves.resize(graph_.nodes.size() - at(options_.first_update));
    for (NodeId id = options_.first_update; id < static_cast<NodeId>(graph_.nodes.size()); ++id)
      for (const ValueId read : node(id).inputs)
        if (read != no_value && graph_.value(read).producer >= options_.first_update)
          moved(id).behind.push_back(graph_.value(read).producer - options_.first_update);
  }

  // Ends the update of the step before: all that it may have postponed is due before this step may
  // postpone moves.
  void postpone(NodeId before) {
    for (NodeId place = before; place < options_.first_update; ++place) add_due(place);
    add(Instruction::postpone, 0);
    may_postpone_ = true;
  }

  void add_due(NodeId place) {
    for (const NodeId update : late_.before[at(place)])
      add(Instruction::due, update - options_.first_update);
  }

  // Adds what comes before a node: moves of the step before that it needs, its waits for their
  // messages, and a look for moves of this step that can be done.
  void catch_up(NodeId id) {
    if (!may_postpone_) add_due(id);
    for (const NodeId message : late_.results[at(id)]) wait(message, false);
    for (const NodeId message : late_.over[at(id)]) wait(message, true);
    if (id >= late_.first_from && id < late_.last_from) add(Instruction::look, 0);
  }

  void visit(NodeId id) {
    if (id >= options_.first_update && late_.possible)
      for (const NodeId message : late_.over[at(id)]) wait(message, true);
    for (const ValueId read : node(id).inputs)
      if (read != no_value && graph_.value(read).producer != no_node)
        wait(graph_.value(read).producer, leaves_arena(graph_.value(read).producer));
    if (made_.numbers[at(id)] < 0) {
      if (!node(id).op->view) add(Instruction::compute, id);
      return;
    }
    add(Instruction::start, made_.numbers[at(id)]);
    if (!options_.overlap || node(id).op->message.kind == MessageKind::barrier) wait(id, true);
  }

  // Whether the data of a message lies in the arena, where something else follows: then whoever
  // reads the result waits until peers have done with it.
  bool leaves_arena(NodeId id) const {
    const MessageKind kind = node(id).op->message.kind;
    return (kind == MessageKind::allgather || kind == MessageKind::reduce_scatter) &&
           graph_.value(operand_of(node(id))).place.base == Base::arena;
  }

  // Adds the waits at the end of a step that postpones its update: the next step puts other data
  // into the arena, and the host reads results.
  void wait_when_left() {
    for (const NodeId message : made_.nodes)
      if (message < options_.first_update && has_operand(node(message)) &&
          graph_.value(operand_of(node(message))).place.base == Base::arena)
        wait(message, true);
    for (const ValueId result : graph_.results)
      if (const NodeId maker = graph_.value(result).producer; maker < options_.first_update)
        wait(maker, true);
  }

  const Graph& graph_;
  const LateUpdates& late_;
  const InstructionOptions& options_;
  Instructions made_;
  bool may_postpone_ = false;  // the instruction `postpone` is in the list
};

}  // namespace

Instructions instructions_of(const Graph& graph, const LateUpdates& late,
                             const InstructionOptions& options) {
  return Lister(graph, late, options).list();
}

}  // namespace tutti
