// SPDX-License-Identifier: Apache-2.0
// Memory against time (P12): activations that the backward pass reads are either kept or computed
// again from the last kept one. The forward part of a graph is cut into cells where little crosses;
// a plan says which runs of cells are computed again.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/passes/recompute_plan.h"

#include <functional>
#include <vector>

namespace tutti {

// Seconds that a node takes, or anything in proportion.
using NodeSeconds = std::function<double(const Graph&, const Node&)>;
// What a node takes at the usual rates of one core (core/usual_rates.h).
double usual_seconds(const Graph& graph, const Node& node);

// The cells of the first `forward_nodes` nodes.
std::vector<Cell> cells_of(const Graph& graph, int forward_nodes, const NodeSeconds& seconds);

// Adds the nodes that compute again, right before the backward pass reads their results. Random
// operators draw the same.
void recompute(Graph& graph, const std::vector<Cell>& cells, const RecomputePlan& plan);

}  // namespace tutti
