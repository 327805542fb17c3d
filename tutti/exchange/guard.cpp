// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/guard.h"

#include "tutti/graph/op.h"
#include "tutti/ops/guard.h"

#include <algorithm>

namespace tutti {
namespace {

std::vector<ValueId>::const_iterator find_word(const Graph& graph) {
  return std::find_if(graph.results.begin(), graph.results.end(), [&](ValueId id) {
    const NodeId producer = graph.value(id).producer;
    return producer != no_node && graph.nodes[static_cast<std::size_t>(producer)].op == &ops::guard;
  });
}

ValueId add_node(Graph& graph, std::vector<ValueId> values, ValueId word) {
  values.push_back(word);
  const ValueId next = graph.add1(ops::guard, std::move(values));
  graph.nodes.back().name = "the step";
  graph.value(next).place = graph.value(word).place;
  graph.value(next).name = graph.value(word).name;
  return next;
}

}  // namespace

void add_guard(Graph& graph, std::int64_t results_offset_bytes) {
  const ValueId word =
      graph.add_value("bad step", {DType::i64, {}}, {Base::results, results_offset_bytes});
  graph.results.push_back(add_node(graph, {graph.results.at(0)}, word));
}

ValueId bad_step_of(const Graph& graph) {
  const auto found = find_word(graph);
  return found == graph.results.end() ? no_value : *found;
}

void guard_by(Graph& graph, std::vector<ValueId> values) {
  const auto found = find_word(graph);
  if (found == graph.results.end()) return;
  const auto place = static_cast<std::size_t>(found - graph.results.begin());
  graph.results[place] = add_node(graph, std::move(values), *found);
}

}  // namespace tutti
