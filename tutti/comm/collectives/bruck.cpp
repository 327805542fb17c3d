// SPDX-License-Identifier: Apache-2.0
// Dissemination (Bruck et al.): before phase k a rank has the parts of 2^k ranks from its own on;
// it sends them to the rank 2^k below and receives as many from the one 2^k above. ⌈log2 P⌉ phases
// for any number of ranks, and the least volume. Backwards, with sums for copies, the same schedule
// is a reduce-scatter.
#include "tutti/comm/collectives/algorithms.h"

#include <algorithm>

namespace tutti::collectives {
namespace {

// The parts of `width` ranks from `first` on. As ranks are counted round, they are one or two
// segments. Parts of a short vector may be empty, but one segment is always sent.
template <class Write>
void pieces(const Problem& problem, int first, int width, const Write& write) {
  const auto part = own_parts(problem);
  first %= problem.ranks;
  const int end = std::min(first + width, problem.ranks);
  write(Part{part(first).begin, part(end - 1).end});
  if (first + width > problem.ranks) write(Part{0, part(first + width - problem.ranks - 1).end});
}

}  // namespace

Actions bruck_allgather(const Problem& problem, int rank) {
  const int ranks = problem.ranks;
  Phases phases;
  for (int distance = 1; distance < ranks; distance *= 2, phases.next()) {
    const int width = std::min(distance, ranks - distance);
    const int above = (rank + distance) % ranks, below = (rank - distance + ranks) % ranks;
    pieces(problem, above, width, [&](Part piece) { phases.receive(above, piece); });
    pieces(problem, rank, width, [&](Part piece) { phases.send(below, piece); });
  }
  return phases.actions;
}

Actions bruck_reduce_scatter(const Problem& problem, int rank) {
  Actions actions = bruck_allgather(problem, rank);
  const int last = actions.empty() ? 0 : actions.back().phase;
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Action& a, const Action& b) { return a.phase > b.phase; });
  for (Action& action : actions) {
    action.phase = last - action.phase;
    action.kind = action.kind == Action::send ? Action::receive_add : Action::send;
  }
  return actions;
}

}  // namespace tutti::collectives
