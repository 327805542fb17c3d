// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation (A09): a batch is cut into micro-batches that run one after the other, and
// the gradient of each is added to what earlier ones have put into g.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Every gradient is made in the arena and added to what its place in g holds.
void accumulate_gradients(Graph& graph);

}  // namespace tutti
