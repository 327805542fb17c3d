// SPDX-License-Identifier: Apache-2.0
// Plans one arena for everything that lives within a step: activations, scratch, reordered copies.
// Offsets come from liveness; views share memory, and an operator may overwrite an input that is
// not read later.
#pragma once

#include "tutti/graph/backend.h"
#include "tutti/graph/memory_plan.h"

namespace tutti {

// Sets place.offset_bytes of every arena value. `reuse` = false gives every value memory of its
// own.
MemoryPlan plan_memory(Graph& graph, const Backend& backend, bool reuse = true);

}  // namespace tutti
