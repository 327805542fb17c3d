// SPDX-License-Identifier: Apache-2.0
// Rabenseifner's allreduce (D05): recursive halving, in which partners share out what they are
// still to sum and exchange halves, then recursive doubling, in which they exchange all that they
// have of the result. The volume of the ring in 2 log2 P phases.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/fold.h"

namespace tutti::collectives {

void rabenseifner(Phases& phases, const RankRow& row, int index, std::int64_t count) {
  fold_to_power_of_two(phases, row, index, {0, count}, [&](int ranks) {
    // The aligned run of `width` parts that holds the member's own part.
    const auto run_of = [&](int member, int width) {
      const int first = member - member % width;
      return even_parts(count, first, first + width, ranks);
    };
    for (int bit = ranks / 2; bit > 0; bit /= 2, phases.next()) {
      phases.receive_add(row.rank(index ^ bit), run_of(index, bit));
      phases.send(row.rank(index ^ bit), run_of(index ^ bit, bit));
    }
    for (int bit = 1; bit < ranks; bit *= 2, phases.next()) {
      phases.receive(row.rank(index ^ bit), run_of(index ^ bit, bit));
      phases.send(row.rank(index ^ bit), run_of(index, bit));
    }
  });
}

Actions rabenseifner_allreduce(const Problem& problem, int rank) {
  Phases phases;
  rabenseifner(phases, {.size = problem.ranks}, rank, problem.count);
  return phases.actions;
}

}  // namespace tutti::collectives
