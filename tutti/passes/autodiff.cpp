// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/autodiff.h"

#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/loss_scale.h"

#include <algorithm>

namespace tutti {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id); }

// Which values depend on one of `sources`.
std::vector<bool> dependents(const Graph& graph, const std::vector<ValueId>& sources) {
  std::vector<bool> depends(graph.values.size(), false);
  for (ValueId id : sources) depends[at(id)] = true;
  for (const Node& node : graph.nodes) {
    const bool reached = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId id) { return id != no_value && depends[at(id)]; });
    if (reached)
      for (ValueId id : node.outputs) depends[at(id)] = true;
  }
  return depends;
}

ValueId sum_of(Graph& graph, ValueId a, ValueId b) {
  if (a == no_value) return b;
  if (b == no_value) return a;
  return graph.add1(ops::add, {a, b});
}

Settings filled(const Type& type, double value) {
  return {{"shape", type.shape}, {"value", value}, {"dtype", std::string(name_of(type.dtype))}};
}

}  // namespace

std::vector<ValueId> gradients(Graph& graph, const std::vector<ValueId>& outputs,
                               const std::vector<ValueId>& seeds, const std::vector<ValueId>& wrt) {
  const std::vector<bool> depends = dependents(graph, wrt);
  std::vector<ValueId> grad(graph.values.size(), no_value);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    grad[at(outputs[i])] = sum_of(graph, grad[at(outputs[i])], seeds[i]);

  const std::size_t original_nodes = graph.nodes.size();
  for (std::size_t i = std::min(original_nodes, graph.nodes.size()); i-- > 0;) {
    const Node node = graph.nodes[i];  // a copy: adding nodes moves the list
    std::vector<ValueId> dy;
    bool flows = false, wanted = false;
    for (ValueId id : node.outputs) {
      dy.push_back(id < static_cast<ValueId>(grad.size()) ? grad[at(id)] : no_value);
      flows |= dy.back() != no_value;
    }
    for (ValueId id : node.inputs)
      wanted |= id != no_value && id < static_cast<ValueId>(depends.size()) && depends[at(id)];
    if (!flows || !wanted) continue;
    if (node.op->gradient == nullptr)
      throw Error("[{}] has no gradient: {}", node.op->name, node.op->undifferentiable);
    graph.scope = node.name;
    const std::vector<ValueId> dx = node.op->gradient(graph, node, dy);
    check(dx.size() == node.inputs.size(), "an operator returns one gradient per input");
    for (std::size_t k = 0; k < dx.size(); ++k)
      if (node.inputs[k] != no_value && depends[at(node.inputs[k])])
        grad[at(node.inputs[k])] = sum_of(graph, grad[at(node.inputs[k])], dx[k]);
  }
  graph.scope.clear();

  std::vector<ValueId> result;
  for (ValueId id : wrt) result.push_back(grad[at(id)]);
  return result;
}

void differentiate(Graph& graph, ValueId loss, const RangeTable& table,
                   const std::vector<ValueId>& parameters) {
  std::vector<ValueId> wrt;
  std::vector<const Range*> ranges;
  for (std::size_t i = 0; i < table.ranges.size(); ++i) {
    if (!table.ranges[i].trainable) continue;
    wrt.push_back(parameters[i]);
    ranges.push_back(&table.ranges[i]);
  }
  const ValueId seed =
      graph.add1(ops::loss_scale, {}, {{"dtype", std::string(name_of(graph.type(loss).dtype))}});
  const std::vector<ValueId> grads = gradients(graph, {loss}, {seed}, wrt);

  for (std::size_t i = 0; i < wrt.size(); ++i) {
    ValueId grad = grads[i];
    graph.scope = ranges[i]->name;
    if (grad == no_value) grad = graph.add1(ops::constant, {}, filled(graph.type(wrt[i]), 0));
    // Where the gradient is a view, a value of the batch, or a value that has a place already, a
    // copy of it is placed in the flat vector.
    const NodeId producer = graph.value(grad).producer;
    if (producer == no_node || graph.nodes[static_cast<std::size_t>(producer)].op->view ||
        graph.value(grad).place.base != Base::arena)
      grad = graph.add1(ops::copy, {grad});
    Value& value = graph.value(grad);
    value.name = "grad " + ranges[i]->name;
    value.place = {Base::gradients, ranges[i]->offset * bytes_of(value.type.dtype)};
  }
  graph.scope.clear();
}

}  // namespace tutti
