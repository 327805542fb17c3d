// SPDX-License-Identifier: Apache-2.0
// Along a binomial tree (D01, D02): in ⌈log2 P⌉ phases each rank adds the sums of its children and
// gives its own to its parent; from the root the result goes back the same way.
#include "tutti/comm/collectives/algorithms.h"

#include <bit>

namespace tutti::collectives {

void tree_reduce(Phases& phases, const RankRow& row, int index, Part segment) {
  for (int distance = 1; distance < row.size; distance *= 2, phases.next()) {
    if (index % (2 * distance) == distance) phases.send(row.rank(index - distance), segment);
    if (index % (2 * distance) == 0 && index + distance < row.size)
      phases.receive_add(row.rank(index + distance), segment);
  }
}

void tree_broadcast(Phases& phases, const RankRow& row, int index, Part segment) {
  const auto size = static_cast<unsigned>(row.size);
  for (int distance = static_cast<int>(std::bit_ceil(size)) / 2; distance > 0;
       distance /= 2, phases.next()) {
    if (index % (2 * distance) == distance) phases.receive(row.rank(index - distance), segment);
    if (index % (2 * distance) == 0 && index + distance < row.size)
      phases.send(row.rank(index + distance), segment);
  }
}

Actions tree_allreduce(const Problem& problem, int rank) {
  Phases phases;
  const RankRow all{.size = problem.ranks};
  tree_reduce(phases, all, rank, {0, problem.count});
  tree_broadcast(phases, all, rank, {0, problem.count});
  return phases.actions;
}

Actions tree_reduce_all(const Problem& problem, int rank) {
  Phases phases;
  tree_reduce(phases, {.size = problem.ranks}, rank, {0, problem.count});
  return phases.actions;
}

Actions tree_broadcast_all(const Problem& problem, int rank) {
  Phases phases;
  tree_broadcast(phases, {.size = problem.ranks}, rank, {0, problem.count});
  return phases.actions;
}

}  // namespace tutti::collectives
