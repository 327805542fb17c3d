// SPDX-License-Identifier: Apache-2.0
// The graph of a role becomes that of one of its ranks. Ranks of a role run the same graph; what
// differs are a few numbers: where a rank's parts of the flat vectors begin and how long they are,
// its place among the ranks. These come from a table of integers that each rank has.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tutti {

using RankTable = std::vector<std::int64_t>;

// `graph` has the numbers of the rank with the table `from`, and gets those of the one with `to`:
// settings, lengths and places change by the difference; shapes follow. Places in the arena stay,
// so the lengths in `from` are the longest.
void bind(Graph& graph, const RankTable& from, const RankTable& to);

}  // namespace tutti
