// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation (A09): a batch is run in several passes, and what a pass finds is added to
// what earlier ones left in g.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Every gradient is made in the arena and added to what its place in g holds.
void accumulate_gradients(Graph& graph);

}  // namespace tutti
