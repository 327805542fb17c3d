// SPDX-License-Identifier: Apache-2.0
// Closes the graph of a step: the store of the scheme sums the partial gradient ranges, and the
// rule updates what the rank owns of every block. A block travels as soon as the backward pass has
// filled it, and its update waits for nothing else. Only a bound on the global norm and
// Updating::guarded make every update wait for all gradients. After a bad step updates do nothing
// (guard.h).
#pragma once

#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/graph.h"

namespace tutti {

// Appends the nodes. `part_of_samples` is the rank's share of the batch, as a fraction. The Σ g² of
// each update becomes a result of the graph; these lie from `results_offset_bytes` on, 8 bytes
// each, and may be added up only when the step is done.
void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes, double part_of_samples = 1);

// How many results of Σ g² there are, at most.
std::int64_t square_sums_of(const RangeTable& table, DType dtype, const StepClosing& closing);

}  // namespace tutti
