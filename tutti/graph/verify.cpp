// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/verify.h"

#include "tutti/core/error.h"
#include "tutti/graph/op.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace tutti {
namespace {

[[noreturn]] void fail(const Graph& graph, std::size_t node, std::string_view after,
                       const std::string& why) {
  const Node& bad = graph.nodes[node];
  throw std::logic_error(fmt::format("internal error: after pass '{}', node {} {} ({}): {}", after,
                                     node, bad.op->name, bad.name, why));
}

// The node that wrote last into each byte behind one base pointer, as stretches that don't overlap.
class LastWriters {
 public:
  void write(std::int64_t begin, std::int64_t end, NodeId node) {
    if (begin >= end) return;
    split(begin);
    split(end);
    stretches_.erase(stretches_.lower_bound(begin), stretches_.lower_bound(end));
    stretches_[begin] = {end, node};
  }

  // The latest node that wrote into [begin, end).
  NodeId latest(std::int64_t begin, std::int64_t end) const {
    NodeId node = no_node;
    auto one = stretches_.upper_bound(begin);
    if (one != stretches_.begin() && std::prev(one)->second.end > begin) --one;
    for (; one != stretches_.end() && one->first < end; ++one)
      node = std::max(node, one->second.node);
    return node;
  }

 private:
  struct Stretch {
    std::int64_t end = 0;
    NodeId node = no_node;
  };

  void split(std::int64_t at) {
    auto one = stretches_.lower_bound(at);
    if (one == stretches_.begin()) return;
    Stretch& before = std::prev(one)->second;
    if (before.end <= at) return;
    stretches_.emplace_hint(one, at, before);
    before.end = at;
  }

  std::map<std::int64_t, Stretch> stretches_;  // by their first byte
};

// Persistent memory (weights, gradients …) may be written in place; a node that reads it afterwards
// must name the new version.
void verify_versions(const Graph& graph, std::string_view after) {
  std::map<int, LastWriters> writers;  // by base
  const auto is_persistent = [](const Value& value) {
    return value.place.base != Base::arena && value.place.offset_bytes >= 0;
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (const ValueId id : node.inputs) {
      if (id == no_value || !is_persistent(graph.value(id))) continue;
      const Value& read = graph.value(id);
      const std::int64_t begin = read.place.offset_bytes;
      const NodeId writer = writers[read.place.base].latest(begin, begin + read.bytes());
      if (writer > read.producer)
        fail(graph, i, after,
             fmt::format("reads '{}' after node {} has overwritten it", read.name, writer));
    }
    for (const ValueId id : node.outputs) {
      const Value& made = graph.value(id);
      if (!is_persistent(made) || node.op->view) continue;
      const std::int64_t begin = made.place.offset_bytes;
      writers[made.place.base].write(begin, begin + made.bytes(), static_cast<NodeId>(i));
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
