// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/recompute.h"

#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace tutti {
namespace {

// Much smaller values are always kept.
constexpr double small_part = 0.01;

// Which values have the samples of the batch along one of their dimensions, and so are activations.
// Those that do not (statistics, sums, losses) are always kept: they are small, and on several
// ranks computing them again would need messages.
std::vector<bool> activations(const Graph& graph) {
  constexpr int none = -1;
  std::vector<int> dimension(graph.values.size(), none);
  for (ValueId id : graph.batch) dimension[static_cast<std::size_t>(id)] = 0;
  for (const Node& node : graph.nodes) {
    if (node.op->sharding == nullptr) continue;
    const ShardingRule rule =
        parse_sharding(node.op->sharding(node.settings, graph.types(node.inputs)));
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == no_value) continue;
      const int split = dimension[static_cast<std::size_t>(node.inputs[k])];
      if (split == none) continue;
      const std::string& index = rule.inputs[k][static_cast<std::size_t>(split)];
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        for (std::size_t d = 0; d < rule.outputs[o].size(); ++d)
          if (rule.outputs[o][d] == index)
            dimension[static_cast<std::size_t>(node.outputs[o])] = static_cast<int>(d);
    }
  }
  std::vector<bool> result;
  for (int d : dimension) result.push_back(d != none);
  return result;
}

class Forward {
 public:
  Forward(const Graph& graph, int nodes)
      : graph_(graph), nodes_(nodes), users_(consumers(graph)), activations_(activations(graph)) {
    std::int64_t largest = 0;
    for (const Value& value : graph.values)
      if (made_here(value)) largest = std::max(largest, value.bytes());
    small_ = static_cast<std::int64_t>(small_part * static_cast<double>(largest));
  }

  // Whether the value lies in the arena, is made by the forward part and is worth a thought.
  bool matters(ValueId id) const {
    return id != no_value && static_cast<std::size_t>(id) < activations_.size() &&
           activations_[static_cast<std::size_t>(id)] && made_here(graph_.value(id)) &&
           graph_.value(id).bytes() > small_;
  }
  bool read_backward(ValueId id) const {
    const auto& users = users_[static_cast<std::size_t>(id)];
    return std::any_of(users.begin(), users.end(), [&](NodeId user) { return user >= nodes_; });
  }
  // Whether forward nodes from `position` on read the value.
  bool read_from(ValueId id, int position) const {
    const auto& users = users_[static_cast<std::size_t>(id)];
    return std::any_of(users.begin(), users.end(),
                       [&](NodeId user) { return user >= position && user < nodes_; });
  }

 private:
  bool made_here(const Value& value) const {
    return value.producer != no_node && value.producer < nodes_ && value.place.base == Base::arena;
  }

  const Graph& graph_;
  const int nodes_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> activations_;
  std::int64_t small_ = 0;
};

// Positions behind which at most one large value is still read: the ends of blocks and layers.
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

// Bytes kept by everything but the runs, which add what stands before each.
struct Sums {
  std::vector<std::int64_t> kept{0};
  std::vector<double> seconds{0};
  explicit Sums(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      kept.push_back(kept.back() + cell.kept_bytes);
      seconds.push_back(seconds.back() + cell.seconds);
    }
  }
  std::int64_t bytes(int first, int last) const {
    return kept[static_cast<std::size_t>(last)] - kept[static_cast<std::size_t>(first)];
  }
  double time(int first, int last) const {
    return seconds[static_cast<std::size_t>(last)] - seconds[static_cast<std::size_t>(first)];
  }
};

// Least time when a run holds at most `run_bytes` and everything else fits into `rest` bytes.
// best[i][m]: cells before i within m units of memory.
class Search {
 public:
  Search(const std::vector<Cell>& cells, std::int64_t run_bytes, std::int64_t rest)
      : cells_(cells),
        sums_(cells),
        run_bytes_(run_bytes),
        // A power of two, which divides most sizes: little is lost by rounding up.
        unit_(static_cast<std::int64_t>(
            std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, rest / 256))))),
        units_(rest / unit_) {
    const std::size_t n = cells.size();
    best_.assign(n + 1, std::vector<Choice>(static_cast<std::size_t>(units_) + 1));
    for (Choice& choice : best_[0]) choice.seconds = 0;
    for (std::size_t i = 1; i <= n; ++i)
      for (std::int64_t m = 0; m <= units_; ++m) choose(static_cast<int>(i), m);
  }

  double seconds() const { return best_.back().back().seconds; }

  RecomputePlan plan() const {
    RecomputePlan plan{.runs = {}, .seconds = seconds()};
    std::int64_t m = units_;
    for (int i = static_cast<int>(cells_.size()); i > 0;) {
      const Choice& choice = best_[static_cast<std::size_t>(i)][static_cast<std::size_t>(m)];
      if (choice.recomputed) plan.runs.insert(plan.runs.begin(), {choice.from, i});
      m -= choice.taken;
      i = choice.from;
    }
    return plan;
  }

 private:
  struct Choice {
    double seconds = std::numeric_limits<double>::infinity();
    int from = 0;
    std::int64_t taken = 0;  // units
    bool recomputed = false;
  };

  std::int64_t units_of(std::int64_t bytes) const { return (bytes + unit_ - 1) / unit_; }

  void consider(int i, std::int64_t m, int from, std::int64_t taken, double seconds, bool again) {
    if (taken > m) return;
    const double total =
        best_[static_cast<std::size_t>(from)][static_cast<std::size_t>(m - taken)].seconds +
        seconds;
    Choice& own = best_[static_cast<std::size_t>(i)][static_cast<std::size_t>(m)];
    if (total < own.seconds) own = {total, from, taken, again};
  }

  void choose(int i, std::int64_t m) {
    const auto& last = cells_[static_cast<std::size_t>(i - 1)];
    consider(i, m, i - 1, units_of(last.kept_bytes), 0, false);
    for (int from = i - 1; from >= 0 && sums_.bytes(from, i) <= run_bytes_; --from)
      consider(i, m, from, units_of(cells_[static_cast<std::size_t>(from)].input_bytes),
               sums_.time(from, i), true);
  }

  const std::vector<Cell>& cells_;
  Sums sums_;
  std::int64_t run_bytes_, unit_, units_;
  std::vector<std::vector<Choice>> best_;
};

// What runs may hold: every sum of neighbouring cells, or as many of them as can be tried.
std::vector<std::int64_t> run_sizes(const std::vector<Cell>& cells) {
  constexpr std::size_t most = 64;
  const Sums sums(cells);
  const int n = static_cast<int>(cells.size());
  std::set<std::int64_t> all;
  for (int first = 0; first < n; ++first)
    for (int last = first + 1; last <= n; ++last) all.insert(sums.bytes(first, last));
  const std::vector<std::int64_t> sizes(all.begin(), all.end());
  if (sizes.size() <= most) return sizes;
  std::vector<std::int64_t> tried;
  for (std::size_t k = 0; k < most; ++k)
    tried.push_back(sizes[k * (sizes.size() - 1) / (most - 1)]);
  return tried;
}

// Copies of the nodes in [begin, end) that make `wanted`, with what they need of the same run.
class Copies {
 public:
  Copies(Graph& graph, const Forward& forward, int begin, int end)
      : graph_(graph), forward_(forward), begin_(begin), end_(end) {}

  // Whether the backward pass must read a copy: nothing behind the run needs the value anyway.
  bool is_dropped(ValueId id) const {
    if (!forward_.matters(id)) return false;
    const NodeId producer = graph_.value(id).producer;
    const bool survives = std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
    return producer >= begin_ && producer < end_ && !survives && !forward_.read_from(id, end_);
  }

  ValueId copy_of(ValueId id) {
    if (!is_dropped(id)) return id;
    if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
    Node node = graph_.nodes[static_cast<std::size_t>(graph_.value(id).producer)];
    for (ValueId& input : node.inputs) input = input == no_value ? no_value : copy_of(input);
    for (ValueId& output : node.outputs) {
      const ValueId fresh = graph_.add_value(graph_.value(output).name, graph_.type(output));
      copies_.emplace(output, fresh);
      output = fresh;
    }
    nodes.push_back(std::move(node));
    return copies_.at(id);
  }

  std::vector<Node> nodes;

 private:
  Graph& graph_;
  const Forward& forward_;
  int begin_, end_;
  std::map<ValueId, ValueId> copies_;
};

}  // namespace

double usual_seconds(const Graph& graph, const Node& node) {
  constexpr double multiply_adds = 25e9, operations = 5e9, bytes = 10e9;  // per second
  if (node.op->cost == nullptr || node.op->view) return 0;
  const Cost cost =
      node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
  return cost.multiply_adds / multiply_adds + (cost.work - cost.multiply_adds) / operations +
         (cost.bytes_read + cost.bytes_written) / bytes;
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
    for (ValueId id : inputs) cell.input_bytes += graph.value(id).bytes();
    cells.push_back(cell);
    begin = end;
  }
  return cells;
}

RecomputePlan recompute_every(const std::vector<Cell>& cells, int k) {
  const Sums sums(cells);
  RecomputePlan plan;
  const int n = static_cast<int>(cells.size());
  for (int first = 0; first + k < n; first += k) {
    plan.runs.push_back({first, first + k});
    plan.seconds += sums.time(first, first + k);
  }
  return plan;
}

RecomputePlan recompute_root(const std::vector<Cell>& cells) {
  const double n = static_cast<double>(cells.size());
  return recompute_every(cells, std::max(1, static_cast<int>(std::lround(std::sqrt(n)))));
}

std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan) {
  const Sums sums(cells);
  std::int64_t kept = sums.bytes(0, static_cast<int>(cells.size())), largest = 0;
  for (const Recomputed& run : plan.runs) {
    const std::int64_t own = sums.bytes(run.first, run.last);
    kept += cells[static_cast<std::size_t>(run.first)].input_bytes - own;
    largest = std::max(largest, own);
  }
  return kept + largest;
}

RecomputePlan recompute_within(const std::vector<Cell>& cells, std::int64_t bytes) {
  if (estimated_bytes(cells, {}) <= bytes) return {};
  RecomputePlan best = recompute_root(cells);
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t run_bytes : run_sizes(cells)) {
    if (run_bytes >= bytes) break;
    const Search search(cells, run_bytes, bytes - run_bytes);
    if (search.seconds() >= least) continue;
    least = search.seconds();
    best = search.plan();
  }
  return best;
}

void recompute(Graph& graph, const std::vector<Cell>& cells, const RecomputePlan& plan) {
  if (plan.runs.empty()) return;
  const int forward_nodes = cells.back().end;
  const Forward forward(graph, forward_nodes);
  std::map<int, std::vector<Node>> before;  // what is inserted before which node
  for (const Recomputed& run : plan.runs) {
    Copies copies(graph, forward, cells[static_cast<std::size_t>(run.first)].begin,
                  cells[static_cast<std::size_t>(run.last - 1)].end);
    int first_reader = static_cast<int>(graph.nodes.size());
    for (std::size_t i = static_cast<std::size_t>(forward_nodes); i < graph.nodes.size(); ++i)
      for (std::size_t k = 0; k < graph.nodes[i].inputs.size(); ++k) {
        const ValueId id = graph.nodes[i].inputs[k];
        if (id == no_value || !copies.is_dropped(id)) continue;
        graph.nodes[i].inputs[k] = copies.copy_of(id);
        first_reader = std::min(first_reader, static_cast<int>(i));
      }
    auto& inserted = before[first_reader];
    inserted.insert(inserted.end(), copies.nodes.begin(), copies.nodes.end());
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (const auto found = before.find(static_cast<int>(i)); found != before.end())
      nodes.insert(nodes.end(), found->second.begin(), found->second.end());
    nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  renumber(graph);
}

}  // namespace tutti
