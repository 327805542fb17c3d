// SPDX-License-Identifier: Apache-2.0
// Memory against time (P12): activations that the backward pass reads are either kept or computed
// again from the last kept one. The forward part of a graph is cut into cells where little crosses;
// a plan says which runs of cells are computed again.
#pragma once

#include "tutti/core/list.h"
#include "tutti/graph/graph.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tutti {

// Nodes [begin, end) of the forward part.
struct Cell {
  int begin = 0, end = 0;
  std::int64_t kept_bytes = 0;   // made here and read by the backward pass
  std::int64_t input_bytes = 0;  // made before and read here
  double seconds = 0;            // of its nodes
};

// Seconds that a node takes, or anything in proportion.
using NodeSeconds = std::function<double(const Graph&, const Node&)>;
// Multiply–adds, other operations and bytes by the rates of a usual core.
double usual_seconds(const Graph& graph, const Node& node);

// The cells of the first `forward_nodes` nodes.
std::vector<Cell> cells_of(const Graph& graph, int forward_nodes, const NodeSeconds& seconds);

// Cells [first, last) that are computed again together, from what stood before the first.
struct Recomputed {
  int first = 0, last = 0;
  bool operator==(const Recomputed&) const = default;
};
struct RecomputePlan {
  std::vector<Recomputed> runs = {};  // in order; cells outside are kept
  double seconds = 0;                 // the cells that are computed again
};

// Runs of k cells; the last run, whose backward pass follows at once, is kept.
RecomputePlan recompute_every(const std::vector<Cell>& cells, int k);
// About √n runs of √n cells (B27).
RecomputePlan recompute_root(const std::vector<Cell>& cells);
// The least time whose estimated activations fit into `bytes`, by dynamic programming; the smallest
// possible when none fits.
RecomputePlan recompute_within(const std::vector<Cell>& cells, std::int64_t bytes);
// Bytes of activations at the worst moment, as the plans estimate them.
std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan);

// Adds the nodes that compute again, right before the backward pass reads their results. Random
// operators draw the same.
void recompute(Graph& graph, const std::vector<Cell>& cells, const RecomputePlan& plan);

}  // namespace tutti
