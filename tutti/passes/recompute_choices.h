// SPDX-License-Identifier: Apache-2.0
// Which plan of recomputing a memory limit asks for (P12): the least time for every amount of
// memory, and of these plans the first whose compiled step fits.
#pragma once

#include "tutti/passes/recompute_plan.h"

#include <functional>
#include <optional>
#include <vector>

namespace tutti {

// The least time for every amount of memory, as it is estimated, in steps of less than 1/256 of
// what keeping everything takes; from keeping everything to the least memory. By dynamic
// programming over runs of cells, at any depth of runs in runs. More than 96 cells are taken
// together in groups.
std::vector<RecomputePlan> recompute_frontier(const std::vector<Cell>& cells);

// What is worth trying, least time first: that frontier, every number of slots, runs of every
// length.
std::vector<RecomputePlan> recompute_choices(const std::vector<Cell>& cells);

// The first of `plans` whose step takes no more than `limit_bytes`, when step_bytes(k) says what
// that of plan k takes; none when none does. What a step takes besides the estimate (scratch
// memory, gradients) varies little between plans: those are passed over whose estimate leaves
// clearly less than the least of that seen so far.
std::optional<std::size_t> cheapest_that_fits(
    const std::vector<Cell>& cells, const std::vector<RecomputePlan>& plans,
    std::int64_t limit_bytes, const std::function<std::int64_t(std::size_t)>& step_bytes);

}  // namespace tutti
