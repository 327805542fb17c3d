// SPDX-License-Identifier: Apache-2.0
// The order of a graph's nodes while a pass inserts and moves some: until apply() every node, also
// one that was added, keeps its place in graph.nodes, so that node ids and producers hold; then all
// are put in order and renumbered at once. A call takes constant time, apply() one walk.
#pragma once

#include "tutti/graph/graph.h"

#include <vector>

namespace tutti {

class NodeOrder {
 public:
  explicit NodeOrder(Graph& graph) : graph_(graph), links_(1) {}

  // The node that was just added runs directly before `node`, or directly behind it. no_node stands
  // for the ends: before it is last of all, behind it first of all. Returns the added node.
  NodeId insert_before(NodeId node);
  NodeId insert_behind(NodeId node);
  // The same for any node.
  void move_before(NodeId moved, NodeId node);
  void move_behind(NodeId moved, NodeId node);

  // The node that runs behind `node`; no_node when there is none.
  NodeId next(NodeId node);

  // Changes the graph. From then on node ids are new.
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
