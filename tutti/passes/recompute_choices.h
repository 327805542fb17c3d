// SPDX-License-Identifier: Apache-2.0
// Chooses a plan of recomputing for a memory limit (P12): finds the plan of least time for every
// amount of memory, and of these the first whose compiled step fits.
#pragma once

#include "tutti/passes/recompute_plan.h"

#include <functional>
#include <optional>
#include <vector>

namespace tutti {

// The plans of least time for every amount of estimated memory, from keeping everything to the
// least memory. Amounts are counted in units of at most 1/256 of the memory that keeping everything
// takes. Found by dynamic programming over sequences of cells, nested to any depth. More than 96
// cells are joined into groups.
std::vector<RecomputePlan> recompute_frontier(const std::vector<Cell>& cells);

// The plans that are worth trying, least time first: recompute_frontier(), recompute_any_slots(),
// and recompute_every() for every length.
std::vector<RecomputePlan> recompute_choices(const std::vector<Cell>& cells);

// The cheapest of `plans` whose step takes at most `limit_bytes`; nothing when no plan does.
// step_bytes(k) returns the bytes that the step of plan k takes. What a step takes besides the
// estimate (scratch memory, gradients) varies little between plans, so plans are passed over when
// their estimate and the least of these extra bytes seen so far clearly exceed the limit.
std::optional<std::size_t> cheapest_that_fits(
    const std::vector<Cell>& cells, const std::vector<RecomputePlan>& plans,
    std::int64_t limit_bytes, const std::function<std::int64_t(std::size_t)>& step_bytes);

}  // namespace tutti
