// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/precision.h"

#include "tutti/graph/op.h"
#include "tutti/graph/sharding.h"

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

// Follows the samples of the batch through the graph by the operators' index notation.
class Samples {
 public:
  explicit Samples(Graph& graph) : graph_(graph), dimension_(graph.values.size()) {}

  // Marks what has an extent for samples. What sums over them (gradients of weights, statistics,
  // the loss) has none; nor has what an operator without notation makes.
  void mark() {
    for (ValueId id : graph_.batch) dimension_[static_cast<std::size_t>(id)] = 0;
    for (const Node& node : graph_.nodes) {
      if (node.op->sharding == nullptr) continue;
      const ShardingRule rule =
          parse_sharding(node.op->sharding(node.settings, graph_.types(node.inputs)));
      const std::string index = index_of(node, rule);
      if (!index.empty()) pass_on(node, rule, index);
    }
  }

 private:
  std::string index_of(const Node& node, const ShardingRule& rule) const {
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == no_value) continue;
      const auto dimension = dimension_[static_cast<std::size_t>(node.inputs[k])];
      if (dimension && rule.inputs[k][*dimension] != "*") return rule.inputs[k][*dimension];
    }
    return "";
  }

  void pass_on(const Node& node, const ShardingRule& rule, const std::string& index) {
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const auto& written = rule.outputs[k];
      const auto found = std::find(written.begin(), written.end(), index);
      if (found == written.end()) continue;
      dimension_[static_cast<std::size_t>(node.outputs[k])] = found - written.begin();
      Value& value = graph_.value(node.outputs[k]);
      value.activation = value.type.dtype == DType::f32 && value.type.shape.size() > 1;
    }
  }

  Graph& graph_;
  std::vector<std::optional<std::size_t>> dimension_;  // of the samples, by value
};

}  // namespace

void choose_precision(Graph& graph, const Backend& backend) {
  if (backend.stored) Samples(graph).mark();
  const std::string multiplied = backend.precision == "bf16" ? "bf16" : "f32";
  for (Node& node : graph.nodes)
    if (node.settings.has("precision") && node.settings.text("precision") == "auto")
      node.settings.set("precision", multiplied);
}

}  // namespace tutti
