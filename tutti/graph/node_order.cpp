// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/node_order.h"

#include <utility>

namespace tutti {

void NodeOrder::insert(NodeId node, NodeId previous) {
  const NodeId next = link(previous).next;
  link(node) = {previous, next};
  link(previous).next = node;
  link(next).previous = node;
}

void NodeOrder::take_out(NodeId node) {
  const Link around = link(node);
  link(around.previous).next = around.next;
  link(around.next).previous = around.previous;
}

// Links the nodes that were added since the last call behind all others.
void NodeOrder::link_added() {
  while (links_.size() <= graph_.nodes.size()) {
    const auto added = static_cast<NodeId>(links_.size()) - 1;
    links_.emplace_back();
    insert(added, link(no_node).previous);
  }
}

void NodeOrder::move_before(NodeId moved, NodeId node) {
  link_added();
  if (moved == node) return;
  take_out(moved);
  insert(moved, link(node).previous);
}

void NodeOrder::move_behind(NodeId moved, NodeId node) {
  link_added();
  if (moved == node) return;
  take_out(moved);
  insert(moved, node);
}

NodeId NodeOrder::insert_before(NodeId node) {
  const auto added = static_cast<NodeId>(graph_.nodes.size()) - 1;
  move_before(added, node);
  return added;
}

NodeId NodeOrder::insert_behind(NodeId node) {
  const auto added = static_cast<NodeId>(graph_.nodes.size()) - 1;
  move_behind(added, node);
  return added;
}

NodeId NodeOrder::next(NodeId node) {
  link_added();
  return link(node).next;
}

void NodeOrder::apply() {
  std::vector<Node> nodes;
  nodes.reserve(graph_.nodes.size());
  for (NodeId node = next(no_node); node != no_node; node = link(node).next)
    nodes.push_back(std::move(graph_.nodes[static_cast<std::size_t>(node)]));
  graph_.nodes = std::move(nodes);
  renumber(graph_);
  links_.assign(1, {});
}

}  // namespace tutti
