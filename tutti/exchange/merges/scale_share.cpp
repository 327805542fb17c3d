// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/merges/scale_share.h"

#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/loss_scale.h"
#include "tutti/ops/scale.h"

namespace tutti {

void scale_share(Graph& graph, double factor) {
  NodeOrder order(graph);
  const std::size_t nodes = graph.nodes.size();
  const auto scaled = [&](ValueId id) {
    const ValueId made = graph.add1(ops::scale, {id}, {{"factor", factor}});
    graph.value(made).name = graph.value(id).name;
    order.insert_behind(graph.value(id).producer);
    return made;
  };
  for (std::size_t i = 0; i < nodes; ++i) {
    if (graph.nodes[i].op != &ops::loss_scale) continue;
    const ValueId seed = graph.nodes[i].outputs[0], own = scaled(seed);
    for (std::size_t reader = 0; reader < nodes; ++reader)
      for (ValueId& input : graph.nodes[reader].inputs)
        if (input == seed) input = own;
  }
  for (ValueId& result : graph.results) {
    const Place place = graph.value(result).place;
    graph.value(result).place = {};
    result = scaled(result);
    graph.value(result).place = place;
  }
  order.apply();
}

}  // namespace tutti
