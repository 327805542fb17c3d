// SPDX-License-Identifier: Apache-2.0
// Every rank with every other: in phase s of P − 1 a rank sends to the rank s below it and receives
// from the one s above. What arrives waits in scratch memory until all is there, so it can be added
// in rank order (reduce-scatter), or take the place of what was sent (all-to-all).
#include "tutti/comm/collectives/algorithms.h"

namespace tutti::collectives {

Actions pairwise_reduce_scatter(const Problem& problem, int rank) {
  const auto part = own_parts(problem);
  const Part own = part(rank);
  const auto slot = [&](int from) {
    const std::int64_t begin = problem.count + (from < rank ? from : from - 1) * own.count();
    return Part{begin, begin + own.count()};
  };
  Phases phases;
  for (int phase = 1; phase < problem.ranks; ++phase, phases.next()) {
    const int below = (rank - phase + problem.ranks) % problem.ranks;
    const int above = (rank + phase) % problem.ranks;
    phases.receive(above, slot(above));
    phases.send(below, part(below));
  }
  // In rank order: ((x0 + x1) + …) + own is own + the sum of the ranks below; then come the ranks
  // above.
  for (int from = 1; from < rank; ++from) phases.add(slot(from).begin, slot(0));
  if (rank > 0) phases.add(slot(0).begin, own);
  for (int from = rank + 1; from < problem.ranks; ++from) phases.add(slot(from).begin, own);
  return phases.actions;
}

Actions pairwise_all_to_all(const Problem& problem, int rank) {
  const auto block = [&](int index) { return even_part(problem.count, index, problem.ranks); };
  Phases phases;
  for (int phase = 1; phase < problem.ranks; ++phase, phases.next()) {
    const int below = (rank - phase + problem.ranks) % problem.ranks;
    const int above = (rank + phase) % problem.ranks;
    const Part in = block(above);
    phases.receive(above, {problem.count + in.begin, problem.count + in.end});
    phases.send(below, block(below));
  }
  for (int from = 0; from < problem.ranks; ++from)
    if (from != rank) phases.copy(problem.count + block(from).begin, block(from));
  return phases.actions;
}

}  // namespace tutti::collectives
