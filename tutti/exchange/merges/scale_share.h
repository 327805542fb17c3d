// SPDX-License-Identifier: Apache-2.0
// Multiplies a rank's loss, metric and gradient by the factor of a merge.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// The graph has its backward pass. The gradient is multiplied where the backward pass begins, since
// everything behind is linear in that first gradient.
void scale_share(Graph& graph, double factor);

}  // namespace tutti
