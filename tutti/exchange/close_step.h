// SPDX-License-Identifier: Apache-2.0
// Closes the graph of a step: the store of the scheme resolves partial gradient ranges, and the
// rule updates what the rank owns of every block. A block travels as soon as the backward pass has
// filled it; its update waits for nothing else. A bound on the global norm is a declared barrier,
// and so is the guard against gradients that are not finite. Where the step is guarded (guard.h),
// updates do nothing after a bad one.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/graph.h"

namespace tutti {

// Appends the nodes, of a rank with this part of the samples of a step. The Σ g² of each update
// becomes a result of the graph, placed from `results_offset_bytes` on, 8 bytes each; they may be
// added up only when the step is done.
void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes, double part_of_samples = 1);

// How many results that makes.
std::int64_t square_sums_of(const RangeTable& table, DType dtype, const StepClosing& closing);

}  // namespace tutti
