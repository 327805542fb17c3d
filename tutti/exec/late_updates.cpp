// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/late_updates.h"

#include "tutti/graph/op.h"

#include <algorithm>
#include <set>

namespace tutti {
namespace {

// Memory that a node reads or writes.
struct Touch {
  int base = 0;
  std::int64_t begin = 0, end = 0;
  bool writes = false;
};
using Touches = std::vector<Touch>;

Touches touches_of(const Graph& graph, const Node& node) {
  Touches touches;
  if (node.op->view) return touches;
  const auto touch = [&](ValueId id, bool writes) {
    if (id == no_value) return;
    const Value& value = graph.value(id);
    const std::int64_t begin = value.place.offset_bytes;
    touches.push_back({value.place.base, begin, begin + value.bytes(), writes});
  };
  for (const ValueId id : node.inputs) touch(id, false);
  for (const ValueId id : node.outputs) touch(id, true);
  return touches;
}

bool meet(const Touch& a, const Touch& b) {
  return a.base == b.base && a.base != Base::arena && a.begin < b.end && b.begin < a.end;
}
bool conflict(const Touches& some, const Touches& others) {
  for (const Touch& a : some)
    for (const Touch& b : others)
      if ((a.writes || b.writes) && meet(a, b)) return true;
  return false;
}
// Whether the first write where the others read or write.
bool disturb(const Touches& some, const Touches& others) {
  for (const Touch& a : some)
    for (const Touch& b : others)
      if (a.writes && meet(a, b)) return true;
  return false;
}

class Plan {
 public:
  Plan(const Graph& graph, int first_update, const std::function<bool(const Node&)>& is_message)
      : graph_(graph),
        nodes_(static_cast<int>(graph.nodes.size())),
        first_(first_update),
        loss_(graph.results.empty() ? no_node : graph.value(graph.results[0]).producer) {
    for (const Node& node : graph.nodes) {
      touches_.push_back(touches_of(graph, node));
      is_message_.push_back(is_message(node));
    }
  }

  LateUpdates make() {
    find_positions();
    const auto count = static_cast<std::size_t>(nodes_);
    const std::vector<std::vector<NodeId>> none(count);
    LateUpdates late{.possible = true,
                     .before = none,
                     .results = none,
                     .over = none,
                     .urgency = std::vector<int>(count, 0),
                     .from = std::vector<int>(count, first_),
                     .first_from = first_};
    for (int update = first_; update < nodes_; ++update) {
      late.before[at(position_[at(update)])].push_back(update);
      late.from[at(update)] = first_needless(update, late.from);
      late.first_from = std::min(late.first_from, late.from[at(update)]);
    }
    late.last_from = late.first_from + (first_ - late.first_from) / 2;
    for (int message = 0; message < nodes_; ++message) {
      if (!is_message_[at(message)]) continue;
      late.urgency[at(message)] = urgency_of(message);
      for (int node = 0; node < message; ++node) {
        if (disturb(touches_[at(node)], touches_[at(message)]))
          late.over[at(node)].push_back(message);
        else if (message >= first_ && node < first_ &&
                 conflict(touches_[at(node)], touches_[at(message)]))
          late.results[at(node)].push_back(message);
      }
    }
    return late;
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }

  // Those that make what `node` reads.
  template <class Visit>
  void for_producers(int node, const Visit& visit) const {
    for (const ValueId id : graph_.nodes[at(node)].inputs)
      if (id != no_value && graph_.value(id).producer != no_node) visit(graph_.value(id).producer);
  }

  // Before which node of the next run each node of the update stands.
  void find_positions() {
    position_.assign(at(nodes_), nodes_);  // nodes_: anywhere
    std::set<int> needing;
    for (int update = first_; update < nodes_; ++update)
      for (int node = 0; node < first_; ++node)
        if (conflict(touches_[at(node)], touches_[at(update)])) {
          needing.insert(position_[at(update)] = node);
          break;
        }
    // A message of the update begins one block earlier, to travel while that one is used.
    for (int update = first_; update < nodes_; ++update)
      if (const auto own = needing.find(position_[at(update)]);
          is_message_[at(update)] && own != needing.end() && own != needing.begin())
        position_[at(update)] = *std::prev(own);
    for (int update = nodes_ - 1; update >= first_; --update)
      for_producers(update, [&](int producer) {
        position_[at(producer)] = std::min(position_[at(producer)], position_[at(update)]);
      });
    for (int update = first_; update < nodes_; ++update)
      if (position_[at(update)] == nodes_) {
        position_[at(update)] = 0;
        for_producers(update, [&](int producer) {
          if (producer >= first_)
            position_[at(update)] = std::max(position_[at(update)], position_[at(producer)]);
        });
      }
  }

  // The node of its own run from which on none has to do with what it reads and writes, and the
  // loss is known: whether that is a number is seen before weights change.
  int first_needless(int update, const std::vector<int>& of_others) const {
    int node = first_;
    while (node > loss_ + 1 && !conflict(touches_[at(node - 1)], touches_[at(update)])) --node;
    for_producers(update, [&](int producer) {
      node = std::max(node, producer < first_ ? producer + 1 : of_others[at(producer)]);
    });
    return node;
  }

  // What other nodes wait for in the same run comes first.
  int urgency_of(int message) const {
    if (message >= first_) return position_[at(message)];
    int first = nodes_;
    for (int node = message + 1; node < nodes_; ++node)
      for_producers(node, [&](int producer) {
        if (producer == message) first = std::min(first, node < first_ ? 0 : position_[at(node)]);
      });
    return first == nodes_ ? 0 : first;
  }

  const Graph& graph_;
  const int nodes_, first_, loss_;
  std::vector<Touches> touches_;
  std::vector<bool> is_message_;
  std::vector<int> position_;
};

}  // namespace

LateUpdates plan_late_updates(const Graph& graph, const MemoryPlan& memory, int first_update,
                              const std::function<bool(const Node&)>& is_message) {
  const auto nodes = static_cast<int>(graph.nodes.size());
  if (first_update == 0 || first_update == nodes) return {};
  for (int node = first_update; node < nodes; ++node) {
    if (memory.scratch_offset[static_cast<std::size_t>(node)] >= 0) return {};
    const Node& update = graph.nodes[static_cast<std::size_t>(node)];
    for (const auto* values : {&update.inputs, &update.outputs})
      for (const ValueId id : *values)
        if (id != no_value && graph.value(id).place.base == Base::arena) return {};
  }
  return Plan(graph, first_update, is_message).make();
}

}  // namespace tutti
