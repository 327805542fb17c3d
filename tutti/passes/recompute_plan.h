// SPDX-License-Identifier: Apache-2.0
// Which activations are kept and which are computed again (P12): plans over the cells of a forward
// part, a run of cells being computed again from what stood before it, and parts of it once more.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

// Nodes [begin, end) of the forward part.
struct Cell {
  int begin = 0, end = 0;
  std::int64_t kept_bytes = 0;   // made here and read by the backward pass
  std::int64_t input_bytes = 0;  // made before and read here
  bool input_kept = false;       // the backward pass reads it too: it stays with the cell before
  double seconds = 0;            // of its nodes
};

// Cells [first, last) that are computed again together, from what stood before the first. Of the
// runs inside, this keeps as little as the first computation does of this one: they are computed
// yet again.
struct Recomputed {
  int first = 0, last = 0;
  std::vector<Recomputed> inner = {};  // in order
  bool operator==(const Recomputed&) const = default;
};
struct RecomputePlan {
  std::vector<Recomputed> runs = {};  // in order; cells outside are kept
  double seconds = 0;                 // the cells that are computed again, as often as they are
};

// Runs of k cells; the last run, whose backward pass follows at once, is kept.
RecomputePlan recompute_every(const std::vector<Cell>& cells, int k);
// About √n runs of √n cells (B27).
RecomputePlan recompute_root(const std::vector<Cell>& cells);
// The fewest forward steps when at most `slots` cells are kept at any time besides the one at work,
// all cells taken as equal (B26).
RecomputePlan recompute_slots(const std::vector<Cell>& cells, int slots);
// The same for 1, 2 … slots, up to one for each cell.
std::vector<RecomputePlan> recompute_any_slots(const std::vector<Cell>& cells);
// What a slot holds of a cell: all that its backward pass reads, or only the activation behind it.
enum class Slot { cell, border };
// Forward steps of a training step of so many equal cells, the first computation included:
// C(t, m) = min over y of y + C(t − y, m − 1) + C(y − 1 or y, m), after Gruslys, Munos, Danihelka,
// Lanctot and Graves, Memory-Efficient Backpropagation Through Time (2016). With borders one of the
// slots is taken by what stands before the first cell.
std::int64_t forward_steps(int cells, int slots, Slot slot);
// Bytes of activations at the worst moment: at the end of the forward part, or while a run is
// computed again, when what stood behind it is gone.
std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan);

}  // namespace tutti
