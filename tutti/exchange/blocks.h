// SPDX-License-Identifier: Apache-2.0
// Blocks of the flat vectors that travel and are updated together, and what of each a rank updates:
// all of it, or one part when the optimizer is sharded over ranks. A rank keeps the state of its
// own parts only, one after the other; and their weights and gradients where those are sharded too.
#pragma once

#include "tutti/comm/part.h"
#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/bind.h"

#include <functional>
#include <string>
#include <vector>

namespace tutti {

struct Block {
  std::int64_t offset = 0, end = 0;  // elements of the flat vectors
  double weight_decay = 0, rate = 1;
  std::int64_t measured = -1;     // where the range begins whose norms the rule asks for; -1: none
  bool factored = false;          // one range that is not cut, so that parts are whole rows of it
  bool sparse = false;            // one range whose touched rows alone may be updated
  std::string axis;               // to sum over; empty: complete on this rank
  Part own = {};                  // elements of the block that this rank updates
  std::int64_t state_offset = 0;  // where their optimizer state begins
  // Of own.begin in the tables of ranks, own.count() and state_offset following; no_slot: the same
  // on all ranks.
  int slot = no_slot;
  // The neighbours that it was cut from, which hold whole ranges.
  std::int64_t whole_offset = 0, whole_end = 0;
  std::string first = {}, last = {};  // names of the ranges in it
  std::string name() const { return first == last ? first : first + " to " + last; }
  std::int64_t count() const { return end - offset; }
  std::int64_t whole_count() const { return whole_end - whole_offset; }
};

using AxisOf = std::function<std::string(const Range&)>;

// In order of offset. Neighbours that are treated alike are merged up to scheme.block_bytes; where
// parts are owned, larger ranges are cut, so that a part is still in cache from its sum to its
// update. Those of closing.factored are blocks by themselves.
std::vector<Block> blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                             const AxisOf& axis);
// Those that there would be if ranks owned parts, whatever the store.
std::vector<Block> owned_blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                                   const AxisOf& axis);

// The slots of a rank's table before those of the blocks: its place along the axis; 1 for the first
// rank, else 0; where the states of all blocks end.
enum RankSlot { place_slot, is_first_slot, states_end_slot, first_block_slot };

// The table of rank closing.rank: what it owns of each block, or would own if the optimizer were
// sharded.
RankTable rank_table(const RangeTable& table, DType dtype, const StepClosing& closing);

// What rank closing.rank keeps of the optimizer's state, of the weights, and of the gradients when
// they have been exchanged. Weights that are not trained are not cut.
VectorLayout state_layout(const RangeTable& table, DType dtype, const StepClosing& closing);
VectorLayout weight_layout(const RangeTable& table, DType dtype, const StepClosing& closing);
VectorLayout gradient_layout(const RangeTable& table, DType dtype, const StepClosing& closing);

}  // namespace tutti
