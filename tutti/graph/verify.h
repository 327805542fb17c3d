// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/graph.h"

#include <string_view>

namespace tutti {

// Throws std::logic_error when the graph breaks a rule: producers before consumers, one producer
// per value, types as inferred, results that are made, and no read of memory that a later version
// of the same flat range has overwritten. `after` names the pass that just ran.
void verify(const Graph& graph, std::string_view after);

}  // namespace tutti
