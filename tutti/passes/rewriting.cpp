// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/rewriting.h"

#include <algorithm>

namespace tutti {

void Rewriting::replace(std::size_t i, Node node) {
  users_.resize(graph_.values.size());
  forget(i);
  const auto place = static_cast<NodeId>(i);
  for (const ValueId id : node.inputs) {
    if (id == no_value) continue;
    std::vector<NodeId>& users = users_[static_cast<std::size_t>(id)];
    users.insert(std::upper_bound(users.begin(), users.end(), place), place);
  }
  for (const ValueId id : node.outputs) graph_.value(id).producer = place;
  graph_.nodes[i] = std::move(node);
}

void Rewriting::remove(std::size_t i) {
  forget(i);
  graph_.nodes[i] = {};
}

void Rewriting::apply() {
  std::erase_if(graph_.nodes, [](const Node& node) { return node.op == nullptr; });
  renumber(graph_);
}

void Rewriting::forget(std::size_t i) {
  for (const ValueId id : graph_.nodes[i].inputs) {
    if (id == no_value) continue;
    std::vector<NodeId>& users = users_[static_cast<std::size_t>(id)];
    users.erase(std::lower_bound(users.begin(), users.end(), static_cast<NodeId>(i)));
  }
  for (const ValueId id : graph_.nodes[i].outputs) graph_.value(id).producer = no_node;
}

}  // namespace tutti
