// SPDX-License-Identifier: Apache-2.0
// Where pieces of memory lie in one arena: pieces that are in use at the same time don't overlap,
// and the arena is small. Two walks through the nodes, forward and backward, find a placement in n
// log n; a search over the order in which pieces are placed improves it, within a bound on its
// work.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

// Memory that is in use from node `first` to node `last`, both included.
struct Piece {
  std::int64_t bytes = 0;
  int first = 0, last = 0;
};

struct Placement {
  std::vector<std::int64_t> offsets;  // of each piece
  std::int64_t bytes = 0;             // of the arena
  std::int64_t live_bytes = 0;        // the largest sum of bytes in use at one node: a lower bound
  std::int64_t steps = 0;             // pieces and gaps that were looked at: a measure of the work
};

// Places the pieces. The search stops after `most_steps` steps; the walks are always made.
Placement place_pieces(const std::vector<Piece>& pieces, std::int64_t most_steps = 500'000'000);

}  // namespace tutti
