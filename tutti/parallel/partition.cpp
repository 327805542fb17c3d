// SPDX-License-Identifier: Apache-2.0
#include "tutti/parallel/partition.h"

#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"
#include "tutti/ops/communication.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tutti {
namespace {

// What a rank holds of a value: all of it, a part along one dimension, or a summand.
struct Share {
  enum Kind { whole, split, partial } kind = whole;
  std::size_t dimension = 0;
};

class SamplePartition {
 public:
  SamplePartition(Graph& graph, std::int64_t samples, std::int64_t local)
      : graph_(graph),
        order_(graph),
        samples_(samples),
        local_(local),
        shares_(graph.values.size()) {}

  void run(const std::string& axis) {
    for (ValueId id : graph_.batch) give(id, {Share::split, 0});
    const std::size_t nodes = graph_.nodes.size();
    for (std::size_t i = 0; i < nodes; ++i) pass_on(i, axis);
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      mark(graph_.values[id], shares_[id], axis);
    sum_results(axis);
    order_.apply();
  }

 private:
  Share& share(ValueId id) { return shares_[static_cast<std::size_t>(id)]; }

  void give(ValueId id, Share given) {
    share(id) = given;
    if (given.kind != Share::split) return;
    // Groups of samples are split with the samples in them.
    std::int64_t& extent = graph_.value(id).type.shape[given.dimension];
    if (extent * local_ % samples_ != 0)
      throw Error("'{}': {} groups of samples can't be cut where {} of {} samples end",
                  graph_.value(id).name, extent, local_, samples_);
    extent = extent * local_ / samples_;
  }

  // The index that the inputs of a node are split along, if any.
  std::optional<std::string> split_index(const Node& node, const ShardingRule& rule) {
    std::optional<std::string> index;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == no_value || share(node.inputs[k]).kind != Share::split) continue;
      const std::string& own = rule.inputs[k][share(node.inputs[k]).dimension];
      if (own == "*" || own.find('+') != std::string::npos || (index && *index != own))
        throw Error("[{}] of '{}' mixes samples, so the batch can't be split over ranks ({})",
                    node.op->name, node.name, own);
      index = own;
    }
    return index;
  }

  bool is_summand(ValueId id) { return id != no_value && share(id).kind == Share::partial; }

  // The sum over ranks of a summand, made once, right behind it.
  ValueId summed(ValueId id, const std::string& axis) {
    if (const auto found = sums_.find(id); found != sums_.end()) return found->second;
    const ValueId sum = graph_.add1(ops::allreduce, {id}, {{"axes", axis}});
    graph_.value(sum).name = graph_.value(id).name;
    shares_.push_back({});
    order_.insert_behind(graph_.value(id).producer);
    return sums_[id] = sum;
  }

  // Decides what the outputs of node i are. An operator that is not linear needs whole sums.
  void pass_on(std::size_t i, const std::string& axis) {
    if (is_message(graph_.nodes[i])) return;
    const std::vector<ValueId> inputs = graph_.nodes[i].inputs;
    const bool summand =
        std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) { return is_summand(id); });
    if (summand && graph_.nodes[i].op->linear) {
      for (ValueId id : graph_.nodes[i].outputs) give(id, {Share::partial});
      return;
    }
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_summand(inputs[k])) continue;
      const ValueId sum = summed(inputs[k], axis);  // adds a node, which moves the list
      graph_.nodes[i].inputs[k] = sum;
    }
    const Node& node = graph_.nodes[i];
    if (node.op->sharding == nullptr) return;  // works on what this rank holds
    // The rule is made from the global types, which the inputs no longer have: only the rank
    // matters.
    const ShardingRule rule =
        parse_sharding(node.op->sharding(node.settings, graph_.types(node.inputs)));
    const std::optional<std::string> index = split_index(node, rule);
    if (!index) return;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const auto& dimensions = rule.outputs[k];
      const auto found = std::find(dimensions.begin(), dimensions.end(), *index);
      if (found == dimensions.end())
        give(node.outputs[k], {Share::partial});
      else
        give(node.outputs[k], {Share::split, static_cast<std::size_t>(found - dimensions.begin())});
    }
  }

  void mark(const Value& value, const Share& held, const std::string& axis) {
    if (value.place.base != Base::gradients || held.kind != Share::partial) return;
    graph_.partial.push_back(
        {value.place.offset_bytes / bytes_of(value.type.dtype), elements(value.type.shape), axis});
  }

  // Scalars that the host reads are summed in the graph, each as soon as it is made.
  void sum_results(const std::string& axis) {
    for (ValueId& id : graph_.results) {
      if (share(id).kind != Share::partial) continue;
      const Place place = graph_.value(id).place;
      graph_.value(id).place = {};
      id = summed(id, axis);
      graph_.value(id).place = place;
    }
  }

  Graph& graph_;
  NodeOrder order_;
  std::int64_t samples_, local_;
  std::vector<Share> shares_;
  std::map<ValueId, ValueId> sums_;  // over ranks, of those summands that are needed whole
};

}  // namespace

void partition_samples(Graph& graph, std::int64_t samples, std::int64_t local_samples) {
  SamplePartition(graph, samples, local_samples).run(data_axis);
}

}  // namespace tutti
