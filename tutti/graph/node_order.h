// SPDX-License-Identifier: Apache-2.0
// The order of a graph's nodes while a pass inserts and moves some. Until apply() every node, also
// an added one, keeps its place in graph.nodes, so that node ids and producers stay valid; apply()
// then puts all nodes in order and renumbers them. Every other call takes constant time, apply()
// one walk.
#pragma once

#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

class NodeOrder {
 public:
  explicit NodeOrder(Graph& graph) : graph_(graph), links_(1) {}

  // Puts the node that was added last directly before `node`, or directly behind it, and returns
  // the added node. no_node stands for both ends of the order: before it is the last place, behind
  // it the first.
  NodeId insert_before(NodeId node);
  NodeId insert_behind(NodeId node);
  // Put the node `moved` directly before or behind `node`.
  void move_before(NodeId moved, NodeId node);
  void move_behind(NodeId moved, NodeId node);

  // The node that runs behind `node`; no_node when there is none.
  NodeId next(NodeId node);

  // Puts graph.nodes in order. Node ids change.
  void apply();

 private:
  struct Link {
    NodeId previous = no_node, next = no_node;
  };
  // A ring, in which no_node stands between the last node and the first.
  Link& link(NodeId node) { return links_[static_cast<std::size_t>(node + 1)]; }
  void link_added();
  void insert(NodeId node, NodeId previous);
  void take_out(NodeId node);

  Graph& graph_;
  std::vector<Link> links_;
};

}  // namespace tutti
