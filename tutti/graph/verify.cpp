// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/verify.h"

#include "tutti/core/error.h"
#include "tutti/graph/op.h"

namespace tutti {
namespace {

[[noreturn]] void fail(const Graph& graph, std::size_t node, std::string_view after,
                       const std::string& why) {
  const Node& bad = graph.nodes[node];
  throw std::logic_error(fmt::format("internal error: after pass '{}', node {} {} ({}): {}", after,
                                     node, bad.op->name, bad.name, why));
}

bool overlap(const Value& a, const Value& b) {
  return a.place.base == b.place.base && a.place.offset_bytes >= 0 && b.place.offset_bytes >= 0 &&
         a.place.offset_bytes < b.place.offset_bytes + b.bytes() &&
         b.place.offset_bytes < a.place.offset_bytes + a.bytes();
}

// Persistent memory (weights, gradients …) may be written in place; whoever reads it afterwards
// must name the new version.
void verify_versions(const Graph& graph, std::string_view after) {
  const auto users = consumers(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId written : graph.nodes[i].outputs) {
      const Value& now = graph.value(written);
      if (now.place.base == Base::arena || graph.nodes[i].op->view) continue;
      for (std::size_t id = 0; id < graph.values.size(); ++id) {
        const Value& old = graph.values[id];
        if (old.producer >= static_cast<NodeId>(i) || !overlap(now, old)) continue;
        for (NodeId reader : users[id])
          if (reader > static_cast<NodeId>(i))
            fail(graph, static_cast<std::size_t>(reader), after,
                 fmt::format("reads '{}' after node {} has overwritten it", old.name, i));
      }
    }
  }
}

}  // namespace

void verify(const Graph& graph, std::string_view after) {
  std::vector<bool> defined(graph.values.size(), false);
  for (std::size_t id = 0; id < graph.values.size(); ++id)
    defined[id] = graph.values[id].producer == no_node;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (ValueId id : node.inputs)
      if (id != no_value && !defined[static_cast<std::size_t>(id)])
        fail(graph, i, after, fmt::format("input %{} is used before it is made", id));
    const std::vector<Type> expected =
        output_types(*node.op, node.settings, graph.types(node.inputs));
    if (expected.size() != node.outputs.size()) fail(graph, i, after, "wrong number of outputs");
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto id = static_cast<std::size_t>(node.outputs[k]);
      if (defined[id]) fail(graph, i, after, fmt::format("output %{} has two producers", id));
      defined[id] = true;
      if (graph.values[id].producer != static_cast<NodeId>(i))
        fail(graph, i, after, fmt::format("output %{} names another producer", id));
      if (!(graph.values[id].type == expected[k]))
        fail(graph, i, after,
             fmt::format("output %{} is {} but {} is inferred", id,
                         to_string(graph.values[id].type.shape), to_string(expected[k].shape)));
    }
  }
  for (ValueId id : graph.results)
    check(defined[static_cast<std::size_t>(id)], "a result of the graph is made by it");
  verify_versions(graph, after);
}

}  // namespace tutti
