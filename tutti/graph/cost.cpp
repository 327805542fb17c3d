// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/cost.h"

#include "tutti/graph/op.h"

#include <algorithm>
#include <numeric>

namespace tutti {

Cost cost_of_node(const Graph& graph, const Node& node) {
  return node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
}

Cost cost_of_nodes(const Graph& graph, const std::vector<int>& nodes) {
  Cost total;
  std::vector<double> depth(graph.values.size(), 0);  // of the longest path that ends in a value
  for (const int i : nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    const Cost cost = cost_of_node(graph, node);
    double longest = 0;
    for (ValueId id : node.inputs)
      if (id != no_value) longest = std::max(longest, depth[static_cast<std::size_t>(id)]);
    for (ValueId id : node.outputs) depth[static_cast<std::size_t>(id)] = longest + cost.depth;
    total.work += cost.work;
    total.depth = std::max(total.depth, longest + cost.depth);
    total.multiply_adds += cost.multiply_adds;
    total.bytes_read += cost.bytes_read;
    total.bytes_written += cost.bytes_written;
  }
  return total;
}

Cost cost_of_nodes(const Graph& graph, int first, int last) {
  std::vector<int> nodes(static_cast<std::size_t>(std::max(last - first, 0)));
  std::iota(nodes.begin(), nodes.end(), first);
  return cost_of_nodes(graph, nodes);
}

}  // namespace tutti
