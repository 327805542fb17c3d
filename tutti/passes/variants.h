// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

// Gives every node that leaves its variant open ("auto") the one that the back end chooses, before
// nodes are fused, so that fusing does not change the choice. The back end may refuse a variant
// that a node names.
void choose_variants(Graph& graph, const Backend& backend);

}  // namespace tutti
