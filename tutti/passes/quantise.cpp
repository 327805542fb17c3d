// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/quantise.h"

#include "tutti/graph/op.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/matmul_i8.h"
#include "tutti/ops/quantise.h"

#include <algorithm>
#include <map>

namespace tutti {
namespace {

class Quantise {
 public:
  explicit Quantise(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> original = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (const Node& node : original)
      if (is_linear(node)) quantised(node.inputs[1]);
    for (const auto& [id, one] : quantised_) keep(one);
    for (Node& node : original)
      if (is_linear(node))
        replace(node);
      else
        graph_.nodes.push_back(std::move(node));
    graph_.scope.clear();
    renumber(graph_);
  }

 private:
  struct Quantised {
    ValueId q, scale;
  };

  // Whether the node is the product x[n,i] w[o,i] with weights that are parameters.
  bool is_linear(const Node& node) const {
    if (node.op != &ops::matmul || node.settings.flag("transpose_a") ||
        !node.settings.flag("transpose_b"))
      return false;
    const Value& weight = graph_.value(node.inputs[1]);
    return weight.producer == no_node && weight.place.base == Base::weights &&
           weight.type.dtype == DType::f32 && weight.type.shape.size() == 2 &&
           weight.type.shape[1] <= ops::matmul_i8_most_products;
  }

  const Quantised& quantised(ValueId id) {
    const auto found = quantised_.find(id);
    if (found != quantised_.end()) return found->second;
    graph_.scope = graph_.value(id).name;
    const std::vector<ValueId> made = graph_.add(ops::quantise, {id});
    return quantised_[id] = {made[0], made[1]};
  }

  void keep(const Quantised& one) {
    constexpr std::int64_t alignment = 64;
    for (const ValueId id : {one.q, one.scale}) {
      graph_.value(id).place = {Base::constants, bytes_};
      bytes_ += (graph_.value(id).bytes() + alignment - 1) / alignment * alignment;
    }
  }

  void replace(const Node& node) {
    const Quantised weight = quantised(node.inputs[1]);
    const Quantised x = quantised(node.inputs[0]);
    graph_.scope = node.name;
    const ValueId sums = graph_.add1(ops::matmul_i8, {x.q, weight.q});
    std::vector<ValueId> inputs = {sums, x.scale, weight.scale};
    inputs.insert(inputs.end(), node.inputs.begin() + 2, node.inputs.end());
    Node last{.op = &ops::dequantise,
              .settings = resolve(ops::dequantise.settings,
                                  {{"activation", node.settings.text("activation")},
                                   {"slope", node.settings.real("slope")}},
                                  "[dequantise]"),
              .inputs = std::move(inputs),
              .outputs = node.outputs,
              .name = node.name,
              .origin = node.origin};
    graph_.nodes.push_back(std::move(last));
  }

  Graph& graph_;
  std::map<ValueId, Quantised> quantised_;
  std::int64_t bytes_ = 0;
};

bool is_constant(const Graph& graph, ValueId id) {
  return graph.value(id).place.base == Base::constants;
}

}  // namespace

void quantise(Graph& graph, const Backend& backend) {
  if (backend.precision == "int8") Quantise(graph).run();
}

int constant_nodes(const Graph& graph) {
  const auto end = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.outputs.empty() || !is_constant(graph, node.outputs[0]);
  });
  return static_cast<int>(end - graph.nodes.begin());
}

std::int64_t constant_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.place.base == Base::constants)
      bytes = std::max(bytes, value.place.offset_bytes + value.bytes());
  return bytes;
}

}  // namespace tutti
