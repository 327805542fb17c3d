// SPDX-License-Identifier: Apache-2.0
// Gives every value the layout that its kernels want and makes each change of layout a visible
// `reorder` node (B14). Persistent memory (weights, gradients, batch) is always plain.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void assign_layouts(Graph& graph, const Backend& backend);

}  // namespace tutti
