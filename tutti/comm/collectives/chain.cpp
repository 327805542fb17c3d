// SPDX-License-Identifier: Apache-2.0
// In rank order: partial sums go up the chain 0 → 1 → … → P−1, each rank adding its own; the result
// comes back down. Segments follow each other, so both directions of every link are busy. A rank
// sends m elements each way (the ends one way only).
#include "tutti/comm/collectives/algorithms.h"

#include <algorithm>

namespace tutti::collectives {
namespace {

constexpr std::int64_t segment_bytes = 64 * 1024;

// At least one segment, which may be empty, so that all ranks meet.
int segments_of(const Problem& problem) {
  const std::int64_t bytes = problem.count * bytes_of(problem.dtype);
  return static_cast<int>(std::max<std::int64_t>(1, (bytes + segment_bytes - 1) / segment_bytes));
}

}  // namespace

// Segment s goes from rank r up in phase s + r and down in phase s + 2(P − 1) − r.
Actions chain_allreduce(const Problem& problem, int rank) {
  const int segments = segments_of(problem), last = problem.ranks - 1;
  Phases phases;
  const auto at = [&](int phase, int first_phase, auto write) {
    const int segment = phase - first_phase;
    if (segment >= 0 && segment < segments) write(even_part(problem.count, segment, segments));
  };
  for (int phase = 0; phase < segments + 2 * last - 1; ++phase, phases.next()) {
    if (rank > 0) {
      at(phase, rank - 1, [&](Part segment) { phases.receive_add(rank - 1, segment); });
      at(phase, 2 * last - rank, [&](Part segment) { phases.send(rank - 1, segment); });
    }
    if (rank < last) {
      at(phase, rank, [&](Part segment) { phases.send(rank + 1, segment); });
      at(phase, 2 * last - rank - 1, [&](Part segment) { phases.receive(rank + 1, segment); });
    }
  }
  return phases.actions;
}

}  // namespace tutti::collectives
