// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// At the end of the step, when nobody reads a carried state any more, what follows it takes its
// place. Throws Error where the two are not alike.
void carry_state(Graph& graph);

}  // namespace tutti
