// SPDX-License-Identifier: Apache-2.0
// Memory against time (P12): activations that the backward part of a graph reads are either kept,
// or computed again from the last one that was kept. The forward part is cut into cells where only
// one large value is read across; a plan says which sequences of cells are computed again.
#pragma once

#include "tutti/graph/graph.h"
#include "tutti/passes/recompute_plan.h"

#include <functional>
#include <vector>

namespace tutti {

// The seconds that a node takes, or any number in proportion to them.
using NodeSeconds = std::function<double(const Graph&, const Node&)>;
// The seconds that a node takes at the usual rates of one core (core/usual_rates.h).
double usual_seconds(const Graph& graph, const Node& node);

// The cells of the first `forward_nodes` nodes.
std::vector<Cell> cells_of(const Graph& graph, int forward_nodes, const NodeSeconds& seconds);

// Adds copies of nodes that compute activations again, right before the backward part first reads
// their results. Random operators draw the same numbers again.
void recompute(Graph& graph, const std::vector<Cell>& cells, const RecomputePlan& plan);

}  // namespace tutti
