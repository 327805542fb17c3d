// SPDX-License-Identifier: Apache-2.0
// The word by which a bad step stops all updates (ops/guard.h) among the results of a step. It
// stays there from step to step; the host reads it when it likes.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tutti {

// Guards the step by its loss, the first result, which is summed over ranks by then: all of them
// find the same. The word lies among the results. Called before the step is closed.
void add_guard(Graph& graph, std::int64_t results_offset_bytes);

// The word as it is behind all nodes so far; no_value where nothing guards the step.
ValueId bad_step_of(const Graph& graph);

// Guards what comes behind by these values, too, where the step is guarded.
void guard_by(Graph& graph, std::vector<ValueId> values);

}  // namespace tutti
