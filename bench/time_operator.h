// SPDX-License-Identifier: Apache-2.0
// Times one operator, without the reorders around it.
#pragma once

#include "bench/options.h"
#include "contract/one_node.h"

#include <string>

namespace tutti::bench {

// A number of threads as text: "1 thread", "2 threads".
std::string threads_text(int threads);

Work work_of(const Graph& graph, const Node& node);
Work work_of(const contract::OneNode& node);

// Milliseconds of each of at least `repeats` executions, for at least `round_ms`.
Spread time_operator(contract::OneNode& node, int repeats, double round_ms);

}  // namespace tutti::bench
