// SPDX-License-Identifier: Apache-2.0
// Runs a network by its operators' references.
#pragma once

#include "tutti/nn/net.h"

#include "contract/interpreter.h"

#include <vector>

namespace tutti::test {

// The parameters as `initialise` makes them.
inline contract::Values first_parameters(const Net& net, std::uint64_t seed = 1) {
  contract::Array flat({net.dtype, {net.table.count()}});
  initialise(net, seed, flat.memory.data());
  contract::Values values;
  for (std::size_t r = 0; r < net.parameters.size(); ++r) {
    const Range& range = net.table.ranges[r];
    contract::Array array({net.dtype, range.shape});
    for (std::int64_t i = 0; i < range.count; ++i) array.set(i, flat.get(range.offset + i));
    values.insert_or_assign(net.parameters[r], array);
  }
  contract::Array state({net.dtype, {net.state_table.count()}});
  initialise_state(net, state.memory.data());
  for (std::size_t id = 0; id < net.graph.values.size(); ++id) {
    const Value& value = net.graph.values[id];
    if (value.place.base != Base::layer_state || value.producer != no_node) continue;
    contract::Array array(value.type);
    for (std::int64_t i = 0; i < array.count(); ++i)
      array.set(i, state.get(value.place.offset_bytes / bytes_of(net.dtype) + i));
    values.insert_or_assign(static_cast<ValueId>(id), array);
  }
  return values;
}

// First parameters and a random batch in which every sample weighs the same.
inline contract::Values first_values(const Net& net, std::uint64_t seed = 1) {
  contract::Values values = first_parameters(net, seed);
  for (const ValueId id : net.graph.batch)
    values.insert_or_assign(
        id, contract::random_array(net.graph.type(id), static_cast<std::uint64_t>(100 + id)));
  contract::Array weights(net.graph.type(net.weights));
  for (std::int64_t i = 0; i < weights.count(); ++i)
    weights.set(i, 1.0 / static_cast<double>(weights.count()));
  values.insert_or_assign(net.weights, weights);
  return values;
}

// The text of the Error that `function` throws; empty when it throws none.
template <class Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tutti::test
