// SPDX-License-Identifier: Apache-2.0
// Recursive doubling (D03): in log2 P phases each rank exchanges whole vectors with the rank whose
// number differs in one bit. Both ranks of a pair do the same addition, so all ranks end with equal
// bits.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/fold.h"

namespace tutti::collectives {

Actions butterfly_allreduce(const Problem& problem, int rank) {
  Phases phases;
  const Part whole{0, problem.count};
  fold_to_power_of_two(phases, {.size = problem.ranks}, rank, whole, [&](int ranks) {
    for (int bit = 1; bit < ranks; bit *= 2, phases.next()) {
      phases.receive_add(rank ^ bit, whole);
      phases.send(rank ^ bit, whole);
    }
  });
  return phases.actions;
}

}  // namespace tutti::collectives
