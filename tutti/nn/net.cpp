// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/net.h"

#include "tutti/graph/carried.h"
#include "tutti/nn/layer.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/embedding.h"

#include <limits>

namespace tutti {

void require_sizes(const Settings& settings, std::string_view where) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto require = [&](const std::string& name, std::int64_t size) {
    if (size > most) throw Error("{}: '{}' is {}, expected at most {}", where, name, size, most);
  };
  for (const auto& [name, value] : settings.values()) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) require(name, *integer);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
      for (const std::int64_t size : *list) require(name, size);
  }
}

ValueId Net::real_field(std::string_view name) {
  const ValueId value = field(name);
  if (is_float(graph.type(value).dtype)) return value;
  return graph.add1(ops::to_real, {value}, {{"dtype", std::string(name_of(dtype))}});
}

ValueId Net::parameter(const std::string& name, Shape shape, Initialiser initialiser,
                       const ParameterAttributes& attributes) {
  check(initialiser.kind != Initialiser::given ||
            static_cast<std::int64_t>(initialiser.values.size()) == elements(shape),
        "a given parameter has a value for each element");
  const std::string full_name = graph.scope.empty() ? name : graph.scope + "." + name;
  if (!is_countable(shape))
    throw Error("the parameter '{}' would be {}, more than the {} elements that a tensor may have",
                full_name, to_string(shape), most_elements);
  const int index = table.add(full_name, shape);
  Range& range = table.ranges[static_cast<std::size_t>(index)];
  range.trainable = attributes.trainable;
  range.weight_decay = attributes.weight_decay;
  range.rate = attributes.rate;
  range.row_sparse = attributes.row_sparse;
  // Parameters without weight decay (biases, normalisation) have no trust ratio either, as their
  // norm has no meaning of its own.
  range.trust_ratio = attributes.weight_decay > 0;
  const Place place{Base::weights, range.offset * bytes_of(dtype)};
  parameters.push_back(graph.add_value(full_name, {dtype, std::move(shape)}, place));
  initialisers.push_back(std::move(initialiser));
  return parameters.back();
}

ValueId Net::state(const std::string& name, Shape shape, Initialiser initialiser, Shape held_as) {
  check(elements(shape) == elements(held_as), "the same elements under another shape");
  const std::string full_name = graph.scope + "." + name;
  const int index = state_table.add(full_name, std::move(shape));
  state_initialisers.push_back(std::move(initialiser));
  const std::int64_t offset = state_table.ranges[static_cast<std::size_t>(index)].offset;
  return graph.add_value(full_name, {dtype, std::move(held_as)},
                         {Base::layer_state, offset * bytes_of(dtype)});
}

ValueId Net::carried(const std::string& name, const Shape& shape) {
  Shape rows{training ? graph.shape(input)[0] : -1};
  rows.insert(rows.end(), shape.begin(), shape.end());
  if (!training)
    return graph.add1(ops::constant, {input},
                      {{"shape", rows}, {"value", 0.0}, {"dtype", std::string(name_of(dtype))}});
  const std::string full_name = graph.scope.empty() ? name : graph.scope + "." + name;
  graph.carried.push_back({.state = graph.add_value(full_name, {dtype, std::move(rows)})});
  place_carried(graph);
  return graph.carried.back().state;
}

void Net::carry_on(ValueId state, ValueId next) {
  for (Carried& one : graph.carried)
    if (one.state == state) one.next = next;
}

ValueId Net::layer(const std::string& name, const std::string& type,
                   const std::function<ValueId()>& build) {
  check(graph.scope.empty(), "layers do not nest");
  if (!layer_names.taken.insert(name).second)
    throw Error("there is a layer '{}' already: give each layer its own name", name);
  LayerInfo info{.name = name, .type = type, .first_node = static_cast<int>(graph.nodes.size())};
  const int first_range = static_cast<int>(table.ranges.size());
  graph.scope = name;
  info.output = build();
  graph.scope.clear();
  info.last_node = static_cast<int>(graph.nodes.size());
  for (int i = first_range; i < static_cast<int>(table.ranges.size()); ++i)
    info.ranges.push_back(i);
  layers.push_back(std::move(info));
  return layers.back().output;
}

ValueId Net::apply(const Layer& entry, ValueId x, const Settings& given, std::string_view where) {
  const std::string begin = where.empty() ? "layer " + entry.name : std::string(where);
  const Settings settings = resolve(table_settings(entry), given, begin);
  require_sizes(settings, begin);
  std::string name = settings.text("name");
  if (name.empty()) {  // "linear1", "linear2" …
    int& number = layer_names.numbers[entry.name];
    do name = entry.name + std::to_string(++number);
    while (layer_names.taken.count(name) > 0);
  }
  try {
    return layer(name, entry.name, [&] { return entry.apply(*this, x, settings); });
  } catch (const Error& error) {
    throw Error("{}: {}", begin, error.what());
  }
}

}  // namespace tutti
