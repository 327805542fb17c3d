// SPDX-License-Identifier: Apache-2.0
// Within each node, then across nodes: a tree sums the vectors of a node at its first rank, those
// ranks sum over nodes by Rabenseifner's algorithm, and a tree brings the result to their nodes. So
// one vector per node is on the network, whatever the number of ranks.
#include "tutti/comm/collectives/algorithms.h"

#include <algorithm>

namespace tutti::collectives {

Actions hierarchical_allreduce(const Problem& problem, int rank) {
  const int first = rank - rank % problem.node_ranks, index = rank - first;
  const RankRow node{.first = first, .size = std::min(problem.node_ranks, problem.ranks - first)};
  const RankRow leaders{.stride = problem.node_ranks,
                        .size = (problem.ranks + problem.node_ranks - 1) / problem.node_ranks};
  const Part whole{0, problem.count};
  Phases phases;
  tree_reduce(phases, node, index, whole);
  if (index == 0) rabenseifner(phases, leaders, rank / problem.node_ranks, problem.count);
  phases.next();
  tree_broadcast(phases, node, index, whole);
  return phases.actions;
}

}  // namespace tutti::collectives
