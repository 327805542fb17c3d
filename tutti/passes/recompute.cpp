// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/recompute.h"

#include "tutti/core/usual_rates.h"
#include "tutti/graph/cost.h"
#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/graph/samples.h"

#include <algorithm>
#include <map>
#include <set>

namespace tutti {
namespace {

// Values smaller than this part of the largest one are always kept.
constexpr double small_part = 0.01;

// The forward part of a graph: its first `nodes` nodes.
class Forward {
 public:
  Forward(const Graph& graph, int nodes)
      : graph_(graph), nodes_(nodes), users_(consumers(graph)), samples_(follow_samples(graph)) {
    std::int64_t largest = 0;
    for (const Value& value : graph.values)
      if (made_here(value)) largest = std::max(largest, value.bytes());
    small_ = static_cast<std::int64_t>(small_part * static_cast<double>(largest));
  }

  // Whether it is worth deciding if the value is kept: it lies in the arena, is made by the forward
  // part and is large. Values without a dimension of samples (statistics, sums, losses) are always
  // kept: they are small, and on several ranks computing them again would need messages.
  bool matters(ValueId id) const {
    return id != no_value && static_cast<std::size_t>(id) < samples_.values.size() &&
           samples_.of(id).kind == SampleShare::split && made_here(graph_.value(id)) &&
           graph_.value(id).bytes() > small_;
  }
  bool read_backward(ValueId id) const {
    const auto& users = users_[static_cast<std::size_t>(id)];
    return std::any_of(users.begin(), users.end(), [&](NodeId user) { return user >= nodes_; });
  }
  // The nodes that read the value.
  const std::vector<NodeId>& users(ValueId id) const {
    return users_[static_cast<std::size_t>(id)];
  }

 private:
  bool made_here(const Value& value) const {
    return value.producer != no_node && value.producer < nodes_ && value.place.base == Base::arena;
  }

  const Graph& graph_;
  const int nodes_;
  std::vector<std::vector<NodeId>> users_;
  SampleFlow samples_;
  std::int64_t small_ = 0;
};

// Positions in the forward part across which exactly one large value is read: the ends of residual
// blocks and layers.
std::vector<int> narrow_positions(const Graph& graph, int forward_nodes, const Forward& forward) {
  std::vector<int> last_read(graph.values.size(), -1);
  for (int i = 0; i < forward_nodes; ++i)
    for (ValueId id : graph.nodes[static_cast<std::size_t>(i)].inputs)
      if (forward.matters(id)) last_read[static_cast<std::size_t>(id)] = i;
  std::vector<int> positions;
  std::set<ValueId> crossing;
  for (int i = 0; i < forward_nodes; ++i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    for (ValueId id : node.outputs)
      if (last_read[static_cast<std::size_t>(id)] > i) crossing.insert(id);
    for (ValueId id : node.inputs)
      if (id != no_value && last_read[static_cast<std::size_t>(id)] == i) crossing.erase(id);
    if (crossing.size() == 1) positions.push_back(i + 1);
  }
  return positions;
}

// A sequence of cells that is computed again by copies of its nodes, with the sequences inside it
// that are computed yet again. The outermost Run is the whole forward part, whose nodes are not
// copied.
class Run {
 public:
  Run(Graph& graph, const Forward& forward, const std::vector<Cell>& cells, const Recomputed& run,
      Run* outer = nullptr)
      : graph_(graph),
        forward_(forward),
        outer_(outer),
        begin_(cells[static_cast<std::size_t>(run.first)].begin),
        end_(cells[static_cast<std::size_t>(run.last - 1)].end),
        first_reader_(static_cast<int>(graph.nodes.size())) {
    // Runs inside the elements point to them, so the elements must not move.
    inner_.reserve(run.inner.size());
    for (const Recomputed& part : run.inner) inner_.emplace_back(graph, forward, cells, part, this);
  }

  // The value that node `reader` of the backward part reads in the place of `id`.
  ValueId read(ValueId id, int reader) {
    first_reader_ = std::min(first_reader_, reader);
    const NodeId producer = graph_.value(id).producer;
    const auto run = inner_run(producer);
    if (run < inner_.size() && inner_[run].drops(id)) return inner_[run].read(id, reader);
    return stand_in(id);
  }

  // Inserts the copies before the node that reads them first: copies of outer Runs first, as inner
  // Runs read them.
  void insert(NodeOrder& order) {
    for (auto& [origin, node] : nodes_) {
      graph_.nodes.push_back(std::move(node));
      order.insert_before(first_reader_);
    }
    for (Run& run : inner_) run.insert(order);
  }

 private:
  // Whether the value was dropped before the backward part reaches this Run: it was made here, and
  // no later Run reads it as its input.
  bool drops(ValueId id) const {
    if (!forward_.matters(id) || (outer_ != nullptr && !outer_->drops(id))) return false;
    const NodeId producer = graph_.value(id).producer;
    const bool survives = std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
    return producer >= begin_ && producer < end_ && !survives &&
           (outer_ == nullptr || !outer_->rereads(id, end_));
  }

  // The index of the inner Run that has the node; inner_.size() where none has.
  std::size_t inner_run(NodeId node) const {
    const auto found = std::partition_point(inner_.begin(), inner_.end(),
                                            [&](const Run& run) { return run.end_ <= node; });
    const bool inside = found != inner_.end() && found->begin_ <= node;
    return static_cast<std::size_t>((inside ? found : inner_.end()) - inner_.begin());
  }

  // Whether inner Runs that begin at node `position` or later read the value.
  bool rereads(ValueId id, int position) const {
    const std::vector<NodeId>& users = forward_.users(id);
    return std::any_of(users.begin(), users.end(), [&](NodeId user) {
      const std::size_t run = inner_run(user);
      return run < inner_.size() && inner_[run].begin_ >= position;
    });
  }

  // The value that holds `id` while this Run is computed again: `id` itself where it was kept, else
  // a copy.
  ValueId stand_in(ValueId id) {
    if (outer_ == nullptr) return id;
    if (!drops(id)) return outer_->stand_in(id);
    if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
    const NodeId producer = graph_.value(id).producer;
    Node node = graph_.nodes[static_cast<std::size_t>(producer)];
    for (ValueId& input : node.inputs) input = input == no_value ? no_value : stand_in(input);
    for (ValueId& output : node.outputs) {
      const ValueId fresh = graph_.add_value(graph_.value(output).name, graph_.type(output));
      copies_.emplace(output, fresh);
      output = fresh;
    }
    nodes_.emplace(producer, std::move(node));
    return copies_.at(id);
  }

  Graph& graph_;
  const Forward& forward_;
  Run* outer_;
  int begin_, end_;
  int first_reader_;        // first node of the backward part that reads from this Run
  std::vector<Run> inner_;  // in order; the Runs inside them point to them
  std::map<ValueId, ValueId> copies_;
  std::map<NodeId, Node> nodes_;  // copies, by the node that was copied
};

}  // namespace

double usual_seconds(const Graph& graph, const Node& node) {
  if (node.op->cost == nullptr || node.op->view) return 0;
  const Cost cost =
      node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
  return cost.multiply_adds / usual::multiply_adds_per_second +
         (cost.work - cost.multiply_adds) / usual::operations_per_second +
         (cost.bytes_read + cost.bytes_written) / usual::bytes_per_second;
}

std::vector<Cell> cells_of(const Graph& graph, int forward_nodes, const NodeSeconds& seconds) {
  const Forward forward(graph, forward_nodes);
  std::vector<int> ends = narrow_positions(graph, forward_nodes, forward);
  if (ends.empty() || ends.back() != forward_nodes) ends.push_back(forward_nodes);
  std::vector<Cell> cells;
  int begin = 0;
  for (int end : ends) {
    Cell cell{.begin = begin, .end = end};
    std::set<ValueId> inputs;
    for (int i = begin; i < end; ++i) {
      const Node& node = graph.nodes[static_cast<std::size_t>(i)];
      cell.seconds += seconds(graph, node);
      for (ValueId id : node.outputs)
        if (forward.matters(id) && forward.read_backward(id))
          cell.kept_bytes += graph.value(id).bytes();
      for (ValueId id : node.inputs)
        if (forward.matters(id) && graph.value(id).producer < begin) inputs.insert(id);
    }
    // A cell that keeps nothing is joined with the one behind it.
    if (cell.kept_bytes == 0 && end < forward_nodes) continue;
    for (ValueId id : inputs) cell.input_bytes += graph.value(id).bytes();
    cell.input_kept = std::all_of(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return forward.read_backward(id); });
    cells.push_back(cell);
    begin = end;
  }
  return cells;
}

void recompute(Graph& graph, const std::vector<Cell>& cells, const RecomputePlan& plan) {
  if (plan.runs.empty()) return;
  const int forward_nodes = cells.back().end;
  const Forward forward(graph, forward_nodes);
  Run whole(graph, forward, cells, {0, static_cast<int>(cells.size()), plan.runs});
  for (std::size_t i = static_cast<std::size_t>(forward_nodes); i < graph.nodes.size(); ++i)
    for (ValueId& id : graph.nodes[i].inputs)
      if (id != no_value) id = whole.read(id, static_cast<int>(i));
  NodeOrder order(graph);
  whole.insert(order);
  order.apply();
}

}  // namespace tutti
