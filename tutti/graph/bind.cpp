// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/bind.h"

#include "tutti/core/error.h"
#include "tutti/graph/op.h"

namespace tutti {
namespace {

void change(Settings& settings, const BoundSetting& bound, std::int64_t difference) {
  SettingValue value = settings.values().find(bound.name)->second;
  if (auto* number = std::get_if<std::int64_t>(&value))
    *number += difference;
  else if (auto* real = std::get_if<double>(&value))
    *real += static_cast<double>(difference);
  else
    std::get<std::vector<std::int64_t>>(value)[static_cast<std::size_t>(bound.element)] +=
        difference;
  settings.set(bound.name, std::move(value));
}

}  // namespace

void bind(Graph& graph, const RankTable& from, const RankTable& to) {
  check(from.size() == to.size(), "ranks of a role have tables of one kind");
  if (from == to) return;
  const auto difference = [&](int slot) {
    return to[static_cast<std::size_t>(slot)] - from[static_cast<std::size_t>(slot)];
  };
  std::vector<bool> changed(graph.values.size());
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    Value& value = graph.values[id];
    if (value.place.slot != no_slot)
      value.place.offset_bytes += difference(value.place.slot) * bytes_of(value.type.dtype);
    if (value.length_slot == no_slot) continue;
    value.type.shape[0] += difference(value.length_slot);
    changed[id] = true;
  }
  for (Node& node : graph.nodes) {
    bool affected = !node.bound.empty();
    for (const BoundSetting& bound : node.bound)
      change(node.settings, bound, bound.scale * difference(bound.slot));
    for (const ValueId id : node.inputs)
      affected = affected || (id != no_value && changed[static_cast<std::size_t>(id)]);
    if (!affected) continue;
    const std::vector<Type> types = output_types(*node.op, node.settings, graph.types(node.inputs));
    for (std::size_t k = 0; k < types.size(); ++k) {
      Value& made = graph.value(node.outputs[k]);
      if (made.type == types[k]) continue;
      check(made.layout.plain(), "parts of vectors are plain");
      made.type = types[k];
      changed[static_cast<std::size_t>(node.outputs[k])] = true;
    }
  }
}

}  // namespace tutti
