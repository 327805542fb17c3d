// SPDX-License-Identifier: Apache-2.0
// The flat vector of what streams carry from step to step: one tensor [streams, …] behind the
// other, in the order of graph.carried. A rank holds the rows of its own streams.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/graph/graph.h"

namespace tutti {

// The table of the states as they are in this graph: of all streams, or of a rank's.
RangeTable carried_table(const Graph& graph);

// Gives every state its place in that vector.
void place_carried(Graph& graph);

}  // namespace tutti
