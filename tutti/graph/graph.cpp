// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/graph.h"

#include "tutti/graph/op.h"

#include <fmt/format.h>

namespace tutti {

std::vector<Type> output_types(const Op& op, const Settings& settings,
                               const std::vector<Type>& in) {
  const auto require = [&](const std::vector<Type>& types) {
    for (const Type& type : types)
      if (type.dtype == DType::bf16 && !op.bf16)
        throw Error("[{}] does not compute in bf16, which is for what travels; cast to f32 first",
                    op.name);
  };
  require(in);
  std::vector<Type> out = op.infer(settings, in);
  require(out);
  for (const Type& type : out)
    if (!is_countable(type.shape))
      throw Error("[{}] the result would be {}, more than the {} elements that a tensor may have",
                  op.name, to_string(type.shape), most_elements);
  return out;
}

ValueId Graph::add_value(std::string name, Type type, Place place) {
  values.push_back({.name = std::move(name), .type = std::move(type), .place = place});
  return static_cast<ValueId>(values.size()) - 1;
}

std::vector<ValueId> Graph::add(const Op& op, std::vector<ValueId> in, Settings given) {
  Node node{.op = &op,
            .settings = resolve(op.settings, given, "[" + op.name + "]"),
            .inputs = std::move(in),
            .outputs = {},
            .name = scope,
            .origin = next_origin++};
  for (Type& type : output_types(op, node.settings, types(node.inputs))) {
    const ValueId id = add_value("", std::move(type));
    value(id).producer = static_cast<NodeId>(nodes.size());
    node.outputs.push_back(id);
  }
  nodes.push_back(std::move(node));
  return nodes.back().outputs;
}

ValueId Graph::add1(const Op& op, std::vector<ValueId> in, Settings given) {
  const std::vector<ValueId> out = add(op, std::move(in), std::move(given));
  check(out.size() == 1, "the operator has one output");
  return out[0];
}

std::vector<Type> Graph::types(const std::vector<ValueId>& ids) const {
  std::vector<Type> result;
  for (ValueId id : ids) result.push_back(id == no_value ? Type{} : type(id));
  return result;
}

std::vector<std::vector<NodeId>> consumers(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId id : graph.nodes[i].inputs)
      if (id != no_value) users[static_cast<std::size_t>(id)].push_back(static_cast<NodeId>(i));
  return users;
}

void renumber(Graph& graph) {
  for (Value& value : graph.values) value.producer = no_node;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId id : graph.nodes[i].outputs) graph.value(id).producer = static_cast<NodeId>(i);
}

std::string print(const Graph& graph) {
  std::string text;
  const auto show = [&](ValueId id) {
    if (id == no_value) return std::string("-");
    const Value& value = graph.value(id);
    return value.name.empty() ? fmt::format("%{}", id) : fmt::format("%{}:{}", id, value.name);
  };
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.outputs) {
      const Value& value = graph.value(id);
      text += fmt::format("{} {}[{}]{}{} ", show(id), name_of(value.type.dtype),
                          to_string(value.type.shape), value.layout.plain() ? "" : " ",
                          value.layout.name);
    }
    text += "= " + node.op->name + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      text += (i > 0 ? ", " : "") + show(node.inputs[i]);
    text += ")";
    for (const auto& [name, setting] : node.settings.values())
      text += fmt::format(" {}={}", name, to_string(setting));
    text += node.name.empty() ? "\n" : "  # " + node.name + "\n";
  }
  return text;
}

}  // namespace tutti
