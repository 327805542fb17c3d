// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/accumulate.h"

#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/constant.h"

namespace tutti {

void accumulate_gradients(Graph& graph) {
  const std::size_t values = graph.values.size();
  NodeOrder order(graph);
  for (std::size_t id = 0; id < values; ++id) {
    const Value made = graph.values[id];
    if (made.place.base != Base::gradients || made.producer == no_node) continue;
    const Node& producer = graph.nodes[static_cast<std::size_t>(made.producer)];
    // Gradient of an unused parameter: zero in every micro-batch.
    if (producer.op == &ops::constant) continue;
    graph.scope = producer.name;
    const ValueId earlier = graph.add_value("earlier " + made.name, made.type, made.place);
    const ValueId sum = graph.add1(ops::add, {static_cast<ValueId>(id), earlier});
    graph.value(sum).name = made.name;
    graph.value(sum).place = made.place;
    graph.values[id].place = {};
    order.insert_behind(made.producer);
  }
  graph.scope.clear();
  order.apply();
}

}  // namespace tutti
