// SPDX-License-Identifier: Apache-2.0
// Exchange with neighbours (D08): each rank sends its elements to all its neighbours and receives
// theirs. The vector holds the rank's own elements, followed by those of each neighbour.
#include "tutti/comm/collectives/algorithms.h"

namespace tutti::collectives {

std::vector<int> ring_neighbours(int ranks, int rank) {
  if (ranks == 1) return {};
  if (ranks == 2) return {1 - rank};
  return {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
}

Actions exchange_with(const std::vector<int>& neighbours, std::int64_t count) {
  Phases phases;
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    const auto block = static_cast<std::int64_t>(k + 1);
    phases.receive(neighbours[k], {block * count, (block + 1) * count});
    phases.send(neighbours[k], {0, count});
  }
  return phases.actions;
}

Actions ring_exchange(const Problem& problem, int rank) {
  return exchange_with(ring_neighbours(problem.ranks, rank), problem.count);
}

}  // namespace tutti::collectives
