// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/stop_word.h"

#include "tutti/graph/node_order.h"
#include "tutti/ops/broadcast.h"

namespace tutti {

void add_stop_word(Graph& graph, const std::string& axes, std::int64_t results_offset_bytes) {
  const Place place{Base::results, results_offset_bytes};
  NodeOrder order(graph);
  const ValueId told = graph.add_value("stop word", {DType::i32, {stop_word_length}}, place);
  const ValueId heard = graph.add1(ops::broadcast, {told}, {{"axes", axes}});
  graph.nodes.back().name = "the stop word";
  graph.value(heard).place = place;
  graph.value(heard).name = "stop word";
  graph.results.push_back(heard);
  order.insert_before(0);
  order.apply();
}

}  // namespace tutti
