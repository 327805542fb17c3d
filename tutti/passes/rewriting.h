// SPDX-License-Identifier: Apache-2.0
// A graph while nodes are replaced and removed. The other nodes keep their places in graph.nodes
// until apply(); users and producers are always up to date.
#pragma once

#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

class Rewriting {
 public:
  explicit Rewriting(Graph& graph) : graph_(graph), users_(consumers(graph)) {}

  Graph& graph() const { return graph_; }
  // The nodes that read a value, in order.
  const std::vector<NodeId>& users(ValueId id) const {
    return users_[static_cast<std::size_t>(id)];
  }
  bool is_removed(std::size_t i) const { return graph_.nodes[i].op == nullptr; }

  void replace(std::size_t i, Node node);
  void remove(std::size_t i);
  // Takes the removed nodes out of the graph. Node ids change by this.
  void apply();

 private:
  void forget(std::size_t i);

  Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
};

}  // namespace tutti
