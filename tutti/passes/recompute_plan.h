// SPDX-License-Identifier: Apache-2.0
// Plans of which activations are kept and which are computed again (P12). A plan names sequences of
// neighbouring cells of the forward part. Such a sequence is computed again from the activation
// before its first cell; sequences inside it may be computed yet again.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

// A cell: the nodes [begin, end) of the forward part.
struct Cell {
  int begin = 0, end = 0;
  std::int64_t kept_bytes = 0;   // values made here that backward reads
  std::int64_t input_bytes = 0;  // values made in earlier cells that this cell reads
  bool input_kept = false;       // backward reads this input too, so the cell before keeps it
  double seconds = 0;            // time of its nodes
};

// Cells [first, last) that are computed again together, from the activation before the first cell.
// The activations of `inner` sequences are dropped again and computed once more.
struct Recomputed {
  int first = 0, last = 0;
  std::vector<Recomputed> inner = {};  // in order
  bool operator==(const Recomputed&) const = default;
};
struct RecomputePlan {
  std::vector<Recomputed> runs = {};  // in order; cells outside of them are kept
  // Time of all cells that are computed again, each as often as it is computed again.
  double seconds = 0;
};

// Computes sequences of k cells again; the last sequence, whose backward follows at once, is kept.
RecomputePlan recompute_every(const std::vector<Cell>& cells, int k);
// About √n sequences of √n cells (B27).
RecomputePlan recompute_root(const std::vector<Cell>& cells);
// The fewest forward steps when at most `slots` cells are kept at any time besides the one at work,
// all cells taken as equal (B26).
RecomputePlan recompute_slots(const std::vector<Cell>& cells, int slots);
// The plans of recompute_slots() for 1, 2 … slots, up to one slot for each cell.
std::vector<RecomputePlan> recompute_any_slots(const std::vector<Cell>& cells);
// What a slot holds of a cell: all that its backward reads, or only the activation at its end.
enum class Slot { cell, border };
// How many cells are computed forward in a training step of `cells` equal cells, the first
// computation included:
// C(t, m) = min over y of y + C(t − y, m − 1) + C(y − 1 or y, m), after Gruslys, Munos, Danihelka,
// Lanctot and Graves, Memory-Efficient Backpropagation Through Time (2016). With Slot::border one
// of the slots holds the input of the first cell.
std::int64_t forward_steps(int cells, int slots, Slot slot);
// The most bytes of activations in memory at one time: at the end of the forward part, or while a
// sequence is computed again, when the activations behind it are no longer needed.
std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan);

}  // namespace tutti
