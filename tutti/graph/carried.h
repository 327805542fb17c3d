// SPDX-License-Identifier: Apache-2.0
// The flat vector of the states that streams of samples carry from step to step: one tensor
// [streams, …] behind the other, in the order of graph.carried. A rank holds the rows of its own
// streams.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/graph/graph.h"

namespace tutti {

// The ranges of the states, with the shapes that they have in this graph: the rows of all streams,
// or, once the samples are partitioned, of a rank's streams.
RangeTable carried_table(const Graph& graph);

// Gives every state its place in the flat vector.
void place_carried(Graph& graph);

}  // namespace tutti
