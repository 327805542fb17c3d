// SPDX-License-Identifier: Apache-2.0
// The word by which a bad step stops all later updates (ops/guard.h). It is one of the results of a
// step and stays there from step to step; the host reads it when it likes.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tutti {

// Guards the step by its loss, the first result. Where ranks meet, the loss is summed over ranks by
// then, so all ranks find the same word. Called before the step is closed.
void add_guard(Graph& graph, std::int64_t results_offset_bytes);

// The word behind all nodes so far; no_value where nothing guards the step.
ValueId bad_step_of(const Graph& graph);

// Sets the word also where one of these values is not finite, for all nodes that are added later.
// Does nothing where nothing guards the step.
void guard_by(Graph& graph, std::vector<ValueId> values);

}  // namespace tutti
