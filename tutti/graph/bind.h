// SPDX-License-Identifier: Apache-2.0
// Turns the graph of a role into the graph of one of its ranks. Ranks of a role run the same graph;
// only a few numbers differ: where a rank's parts of the flat vectors begin, how long they are, and
// the rank's place among the ranks. Each rank has these numbers in a table.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tutti {

using RankTable = std::vector<std::int64_t>;

// `graph` has the numbers of the rank with the table `from`, and gets those of the rank with the
// table `to`: settings, lengths and places change by the difference, and shapes follow. Places in
// the arena stay, so the lengths in `from` must be the longest of the role.
void bind(Graph& graph, const RankTable& from, const RankTable& to);

}  // namespace tutti
