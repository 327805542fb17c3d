// SPDX-License-Identifier: Apache-2.0
#include "tutti/parallel/partition.h"

#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"
#include "tutti/ops/communication.h"

#include <algorithm>
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
      : graph_(graph), samples_(samples), local_(local), shares_(graph.values.size()) {}

  void run(const std::string& axis) {
    for (ValueId id : graph_.batch) give(id, {Share::split, 0});
    for (const Node& node : graph_.nodes) pass_on(node);
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      mark(graph_.values[id], shares_[id], axis);
    sum_results(axis);
  }

 private:
  Share& share(ValueId id) { return shares_[static_cast<std::size_t>(id)]; }

  void give(ValueId id, Share given) {
    share(id) = given;
    if (given.kind != Share::split) return;
    std::int64_t& extent = graph_.value(id).type.shape[given.dimension];
    check(extent == samples_, "the split dimension counts the samples");
    extent = local_;
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

  void pass_on(const Node& node) {
    const bool summand = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != no_value && share(id).kind == Share::partial;
    });
    if (summand) {
      if (!node.op->linear)
        throw Error("[{}] of '{}' is not linear in a sum over samples, so the batch can't be split",
                    node.op->name, node.name);
      for (ValueId id : node.outputs) give(id, {Share::partial});
      return;
    }
    check(node.op->sharding != nullptr, "operators before the exchange have a sharding rule");
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
      Value& local = graph_.value(id);
      const Place place = local.place;
      local.place = {};
      const ValueId sum = graph_.add1(ops::allreduce, {id}, {{"axis", axis}});
      graph_.value(sum).place = place;
      graph_.value(sum).name = graph_.value(id).name;
      std::rotate(graph_.nodes.begin() + graph_.value(id).producer + 1, graph_.nodes.end() - 1,
                  graph_.nodes.end());
      renumber(graph_);
      id = sum;
    }
  }

  Graph& graph_;
  std::int64_t samples_, local_;
  std::vector<Share> shares_;
};

}  // namespace

void partition_samples(Graph& graph, std::int64_t samples, std::int64_t local_samples,
                       const std::string& axis) {
  SamplePartition(graph, samples, local_samples).run(axis);
}

}  // namespace tutti
