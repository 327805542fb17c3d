// SPDX-License-Identifier: Apache-2.0
// The work–depth model (K01): work W counts operations, depth D the longest chain of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tutti {

struct Graph;
struct Node;

struct Cost {
  double work = 0;   // operations; a multiply–add counts as one, as in the survey's tables
  double depth = 0;  // longest dependent chain
  double multiply_adds = 0;  // those of `work` that are multiply–adds (× 2 = flops)
  double bytes_read = 0;
  double bytes_written = 0;
};

// ⌈log2 n⌉: the depth of a reduction of n values.
constexpr int log2_ceiling(std::int64_t n) {
  return n <= 1 ? 0 : 64 - std::countl_zero(static_cast<std::uint64_t>(n - 1));
}

// The cost of a node, as its operator states it.
Cost cost_of_node(const Graph& graph, const Node& node);

// The cost of several nodes, given in execution order: work, multiply–adds and bytes add up; the
// depth is that of the longest path through these nodes.
Cost cost_of_nodes(const Graph& graph, const std::vector<int>& nodes);
// The same for nodes [first, last).
Cost cost_of_nodes(const Graph& graph, int first, int last);

}  // namespace tutti
