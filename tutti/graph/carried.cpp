// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/carried.h"

namespace tutti {

RangeTable carried_table(const Graph& graph) {
  RangeTable table;
  for (const Carried& one : graph.carried)
    table.add(graph.value(one.state).name, graph.shape(one.state));
  return table;
}

void place_carried(Graph& graph) {
  const RangeTable table = carried_table(graph);
  for (std::size_t i = 0; i < graph.carried.size(); ++i) {
    Value& state = graph.value(graph.carried[i].state);
    state.place = {Base::carried, table.ranges[i].offset * bytes_of(state.type.dtype)};
  }
}

}  // namespace tutti
