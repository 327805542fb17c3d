// SPDX-License-Identifier: Apache-2.0
// Around a ring (D04). In each phase a rank sends a part to the next rank and receives the one
// before it from the rank before. Adding what comes in for P − 1 phases, each rank ends with one
// complete part (reduce-scatter); passing on complete parts for P − 1 more, all have all of them
// (allgather). In 2(P−1) messages a rank sends 2m(P−1)/P elements, the least possible volume.
#include "tutti/comm/collectives/algorithms.h"

namespace tutti::collectives {
namespace {

// P − 1 phases, in the first of which `rank` sends part `first`.
template <class PartOf>
void go_round(Phases& phases, int ranks, int rank, int first, bool add, const PartOf& part) {
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  for (int phase = 0; phase < ranks - 1; ++phase) {
    const int out = (first - phase + 2 * ranks) % ranks, in = (out + ranks - 1) % ranks;
    if (add)
      phases.receive_add(before, part(in));
    else
      phases.receive(before, part(in));
    phases.send(after, part(out));
    phases.next();
  }
}

}  // namespace

Actions ring_allreduce(const Problem& problem, int rank) {
  const auto part = [&](int index) { return even_part(problem.count, index, problem.ranks); };
  Phases phases;
  go_round(phases, problem.ranks, rank, rank, true, part);
  go_round(phases, problem.ranks, rank, rank + 1, false, part);
  return phases.actions;
}

Actions ring_reduce_scatter(const Problem& problem, int rank) {
  Phases phases;
  go_round(phases, problem.ranks, rank, rank - 1, true, own_parts(problem));
  return phases.actions;
}

Actions ring_allgather(const Problem& problem, int rank) {
  Phases phases;
  go_round(phases, problem.ranks, rank, rank, false, own_parts(problem));
  return phases.actions;
}

}  // namespace tutti::collectives
