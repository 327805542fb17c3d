// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation (A09): a batch is cut into micro-batches that run one after the other, and
// the gradient of each micro-batch is added to the flat vector g.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Computes every gradient in the arena and adds it to the sum of earlier micro-batches in g.
void accumulate_gradients(Graph& graph);

}  // namespace tutti
