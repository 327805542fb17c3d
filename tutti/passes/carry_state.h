// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Adds copies at the end of the step that overwrite each carried state with its next value. Throws
// Error where the two differ in type or shape.
void carry_state(Graph& graph);

}  // namespace tutti
