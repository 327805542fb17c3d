// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Removes nodes whose outputs reach neither a result, an output nor persistent memory.
void remove_dead_code(Graph& graph);

}  // namespace tutti
