// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/late_updates.h"

#include "tutti/graph/op.h"
#include "tutti/ops/guard.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tutti {
namespace {

// Memory outside the arena that a node reads or writes.
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
    if (value.place.base == Base::arena || value.bytes() == 0) return;
    const std::int64_t begin = value.place.offset_bytes;
    touches.push_back({value.place.base, begin, begin + value.bytes(), writes});
  };
  for (const ValueId id : node.inputs) touch(id, false);
  for (const ValueId id : node.outputs) touch(id, true);
  return touches;
}

// Which nodes touch which memory. Memory is cut into stretches wherever a touch begins or ends:
// touches overlap where they have a stretch in common.
class TouchedMemory {
 public:
  // The nodes that touch, or write, a stretch, in order; a node may stand more than once.
  struct Stretch {
    std::vector<int> touching, writing;
  };

  TouchedMemory() = default;
  explicit TouchedMemory(const std::vector<Touches>& nodes) {
    for (const Touches& touches : nodes)
      for (const Touch& touch : touches)
        cuts_.insert(cuts_.end(), {{touch.base, touch.begin}, {touch.base, touch.end}});
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    stretches_.resize(cuts_.size());
    for (std::size_t node = 0; node < nodes.size(); ++node)
      for (const Touch& touch : nodes[node])
        for (std::size_t k = at({touch.base, touch.begin}); cuts_[k] != end_of(touch); ++k) {
          stretches_[k].touching.push_back(static_cast<int>(node));
          if (touch.writes) stretches_[k].writing.push_back(static_cast<int>(node));
        }
  }

  template <class Visit>
  void for_stretches(const Touch& touch, const Visit& visit) const {
    for (std::size_t k = at({touch.base, touch.begin}); cuts_[k] != end_of(touch); ++k)
      visit(stretches_[k]);
  }

 private:
  using Cut = std::pair<int, std::int64_t>;  // base and offset

  static Cut end_of(const Touch& touch) { return {touch.base, touch.end}; }
  std::size_t at(const Cut& cut) const {
    return static_cast<std::size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), cut) -
                                    cuts_.begin());
  }

  std::vector<Cut> cuts_;
  std::vector<Stretch> stretches_;  // from each cut to the next
};

class Plan {
 public:
  Plan(const Graph& graph, int first_update, const std::function<bool(const Node&)>& is_message)
      : graph_(graph),
        nodes_(static_cast<int>(graph.nodes.size())),
        first_(first_update),
        users_(consumers(graph)) {
    for (const Node& node : graph.nodes) {
      touches_.push_back(touches_of(graph, node));
      is_message_.push_back(is_message(node));
    }
    memory_ = TouchedMemory(touches_);
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
      // The guard alone, which needs no more than the loss, is no reason to look.
      if (!is_guard(update)) late.first_from = std::min(late.first_from, late.from[at(update)]);
    }
    late.last_from = late.first_from + (first_ - late.first_from) / 2;
    for (int message = 0; message < nodes_; ++message) {
      if (!is_message_[at(message)]) continue;
      late.urgency[at(message)] = urgency_of(message);
      add_waits(message, late);
    }
    return late;
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  bool is_guard(int node) const { return graph_.nodes[at(node)].op == &ops::guard; }

  // Visits the nodes that make what `node` reads.
  template <class Visit>
  void for_producers(int node, const Visit& visit) const {
    for (const ValueId id : graph_.nodes[at(node)].inputs)
      if (id != no_value && graph_.value(id).producer != no_node) visit(graph_.value(id).producer);
  }

  // Visits, for each stretch of memory, the nodes in order that write what this one touches or
  // touch what it writes.
  template <class Visit>
  void for_conflicting(int node, const Visit& visit) const {
    for (const Touch& touch : touches_[at(node)])
      memory_.for_stretches(touch, [&](const TouchedMemory::Stretch& stretch) {
        visit(touch.writes ? stretch.touching : stretch.writing);
      });
  }

  // Adds a message to `over` of the nodes before it that write where it reads or writes, and to
  // `results` of those that only read what it makes.
  void add_waits(int message, LateUpdates& late) const {
    std::set<int> disturbing, reading;
    const auto add = [](const std::vector<int>& nodes, int end, std::set<int>& to) {
      to.insert(nodes.begin(), std::lower_bound(nodes.begin(), nodes.end(), end));
    };
    for (const Touch& touch : touches_[at(message)])
      memory_.for_stretches(touch, [&](const TouchedMemory::Stretch& stretch) {
        add(stretch.writing, message, disturbing);
        if (message >= first_ && touch.writes) add(stretch.touching, first_, reading);
      });
    for (const int node : disturbing) late.over[at(node)].push_back(message);
    for (const int node : reading)
      if (disturbing.count(node) == 0) late.results[at(node)].push_back(message);
  }

  // Finds before which node of the next step each node of the update stands.
  void find_positions() {
    position_.assign(at(nodes_), nodes_);  // nodes_: anywhere
    std::set<int> needing;
    for (int update = first_; update < nodes_; ++update) {
      int& position = position_[at(update)];
      for_conflicting(update, [&](const std::vector<int>& nodes) {
        if (!nodes.empty() && nodes.front() < first_) position = std::min(position, nodes.front());
      });
      if (position < first_) needing.insert(position);
    }
    // A message of the update starts before the last node that needs an earlier update, to travel
    // while that node computes.
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

  // The node of the update's own step from which on no node before the update conflicts with it.
  int first_needless(int update, const std::vector<int>& of_others) const {
    int node = 0;
    for_conflicting(update, [&](const std::vector<int>& nodes) {
      const auto behind = std::lower_bound(nodes.begin(), nodes.end(), first_);
      if (behind != nodes.begin()) node = std::max(node, *std::prev(behind) + 1);
    });
    for_producers(update, [&](int producer) {
      node = std::max(node, producer < first_ ? producer + 1 : of_others[at(producer)]);
    });
    return node;
  }

  // Messages that other nodes of the same step wait for are the most urgent, and so are those that
  // the guard of all updates waits for.
  int urgency_of(int message) const {
    if (message >= first_) return position_[at(message)];
    int first = nodes_;
    for (const ValueId id : graph_.nodes[at(message)].outputs)
      for (const NodeId node : users_[at(id)])
        first = std::min(first, node < first_ || is_guard(node) ? 0 : position_[at(node)]);
    return first == nodes_ ? 0 : first;
  }

  const Graph& graph_;
  const int nodes_, first_;
  const std::vector<std::vector<NodeId>> users_;  // of each value
  std::vector<Touches> touches_;
  TouchedMemory memory_;
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
        if (id != no_value && (graph.value(id).place.base == Base::arena ||
                               Base::is_input(graph.value(id).place.base)))
          return {};
  }
  return Plan(graph, first_update, is_message).make();
}

}  // namespace tutti
