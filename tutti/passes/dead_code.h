// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Removes nodes on which no result, no output of the graph and no persistent memory depends.
void remove_dead_code(Graph& graph);

}  // namespace tutti
