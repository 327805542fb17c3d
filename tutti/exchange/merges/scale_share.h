// SPDX-License-Identifier: Apache-2.0
// The factor that a merge puts on what a rank has of the loss, the metric and the gradient.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Of a graph with its backward pass. The gradient is multiplied where the backward pass begins:
// everything behind that is linear in it.
void scale_share(Graph& graph, double factor);

}  // namespace tutti
