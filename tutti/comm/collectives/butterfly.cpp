// SPDX-License-Identifier: Apache-2.0
// Recursive doubling (D03): in log2 P steps each rank exchanges whole vectors with the rank whose
// number differs in one bit. Both ranks of a pair do the same addition, so all ranks end with equal
// bits.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/fold.h"

namespace tutti::collectives {

Actions butterfly_allreduce(const Problem& problem, int rank) {
  Steps steps;
  const Part whole{0, problem.count};
  fold_to_power_of_two(steps, {.size = problem.ranks}, rank, whole, [&](int ranks) {
    for (int bit = 1; bit < ranks; bit *= 2, steps.next()) {
      steps.receive_add(rank ^ bit, whole);
      steps.send(rank ^ bit, whole);
    }
  });
  return steps.actions;
}

}  // namespace tutti::collectives
