// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/samples.h"

#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

class Following {
 public:
  Following(const Graph& graph, SampleFlow& flow) : graph_(graph), flow_(flow) {}

  void run() {
    flow_.values.resize(graph_.values.size());
    for (const ValueId id : graph_.batch) flow_.of(id) = {SampleShare::split, 0};
    for (const Carried& one : graph_.carried) flow_.of(one.state) = {SampleShare::split, 0};
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) follow_node(static_cast<NodeId>(i));
  }

 private:
  void follow_node(NodeId id) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
    if (is_message(node)) return;
    const bool has_summand = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) {
      return in != no_value && flow_.of(in).kind == SampleShare::summand;
    });
    if (has_summand && !flow_.needs_sums(node)) {
      for (const ValueId out : node.outputs) flow_.of(out) = {SampleShare::summand};
      return;
    }
    if (node.op->sharding == nullptr) return;  // works on whatever the rank holds
    const ShardingRule rule =
        parse_sharding(node.op->sharding(node.settings, graph_.types(node.inputs)));
    const std::string index = index_of(id, rule);
    if (index.empty()) return;
    require_parts(id, rule, index);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      flow_.of(node.outputs[k]) = share_of(rule.outputs[k], index);
  }

  // The index along which the inputs of a node have the samples; empty: no input has samples.
  std::string index_of(NodeId id, const ShardingRule& rule) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
    std::string index;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == no_value || flow_.of(node.inputs[k]).kind != SampleShare::split)
        continue;
      const std::string& written = rule.inputs[k][flow_.of(node.inputs[k]).dimension];
      const std::string own = split_index(written);
      if (own.empty() || (!index.empty() && index != own))
        flow_.obstacles.push_back({id, fmt::format("mixes samples ({})", written)});
      if (index.empty()) index = own;
    }
    return index;
  }

  // Notes an obstacle for each input that has the index but not the samples: a rank would combine
  // all of it with its own share of the other inputs.
  void require_parts(NodeId id, const ShardingRule& rule, const std::string& index) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k] != no_value && flow_.of(node.inputs[k]).kind != SampleShare::split &&
          share_of(rule.inputs[k], index).kind == SampleShare::split)
        flow_.obstacles.push_back(
            {id, fmt::format("reads '{}' along the samples of the batch, which does not have them",
                             graph_.value(node.inputs[k]).name)});
  }

  // What a rank holds of a tensor with these dimensions when `index` is split.
  static SampleShare share_of(const std::vector<std::string>& dimensions,
                              const std::string& index) {
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      if (split_index(dimensions[d]) == index) return {SampleShare::split, d};
    return {SampleShare::summand};
  }

  const Graph& graph_;
  SampleFlow& flow_;
};

}  // namespace

bool SampleFlow::needs_sums(const Node& node) const {
  return !node.op->linear || std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id != no_value && of(id).kind != SampleShare::summand;
  });
}

SampleFlow follow_samples(const Graph& graph) {
  SampleFlow flow;
  Following(graph, flow).run();
  return flow;
}

}  // namespace tutti
