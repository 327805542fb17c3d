// SPDX-License-Identifier: Apache-2.0
// A reduction as a line (D01): each rank adds its vector to the sum of those before it, in rank
// order, P − 1 additions one after the other; the last rank gives the sum to rank 0.
#include "tutti/comm/collectives/algorithms.h"

namespace tutti::collectives {

Actions line_reduce(const Problem& problem, int rank) {
  const int last = problem.ranks - 1;
  const Part whole{0, problem.count};
  Phases phases;
  if (last == 0) return phases.actions;
  if (rank > 0) {
    phases.receive_add(rank - 1, whole);
    phases.next();
  }
  phases.send(rank < last ? rank + 1 : 0, whole);
  phases.next();
  if (rank == 0) phases.receive(last, whole);
  return phases.actions;
}

}  // namespace tutti::collectives
