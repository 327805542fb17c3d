// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/dead_code.h"

#include "tutti/graph/op.h"

#include <algorithm>

namespace tutti {

void remove_dead_code(Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  const auto need = [&](ValueId id) {
    if (id != no_value) needed[static_cast<std::size_t>(id)] = true;
  };
  for (ValueId id : graph.results) need(id);
  for (ValueId id : graph.outputs) need(id);

  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool live =
        node->outputs.empty() ||
        std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
          return needed[static_cast<std::size_t>(id)] || graph.value(id).place.base != Base::arena;
        });
    if (!live) continue;
    for (ValueId id : node->inputs) need(id);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  renumber(graph);
}

}  // namespace tutti
