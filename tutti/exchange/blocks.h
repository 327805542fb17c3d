// SPDX-License-Identifier: Apache-2.0
// Blocks: neighbouring ranges of the flat vectors that travel and are updated together. A rank
// updates all of a block, or only its own part where the store is sharded. It then keeps optimizer
// state for its own parts only, one part behind the other; weights and gradients likewise, where
// these are sharded too.
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
  std::string axis;               // to sum gradients over; empty: they are complete on this rank
  Part own = {};                  // elements of the block that this rank updates
  std::int64_t state_offset = 0;  // where the optimizer state of `own` begins
  // The slot of own.begin in a rank's table (graph/bind.h); own.count() and state_offset have the
  // next two. no_slot: all three are equal on all ranks.
  int slot = no_slot;
  // The merged ranges that this block was cut from.
  std::int64_t whole_offset = 0, whole_end = 0;
  std::string first = {}, last = {};  // names of the first and the last range in the block
  std::string name() const { return first == last ? first : first + " to " + last; }
  std::int64_t count() const { return end - offset; }
  std::int64_t whole_count() const { return whole_end - whole_offset; }
};

// Says which axis the gradient of a range must be summed over; empty: none.
using AxisOf = std::function<std::string(const Range&)>;

// The blocks of all trainable ranges, in order of offset. Neighbouring ranges that are treated
// alike are merged up to scheme.block_bytes. Where ranks own parts, larger ranges are cut, so that
// a part is still in cache from its sum to its update. A range of closing.factored is a block by
// itself.
std::vector<Block> blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                             const AxisOf& axis);
// The blocks that there would be if ranks owned parts, whatever the store.
std::vector<Block> owned_blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                                   const AxisOf& axis);

// The slots of a rank's table before those of the blocks: the rank's place along the axis; 1 for
// the first rank, else 0; where the states of all blocks end.
enum RankSlot { place_slot, is_first_slot, states_end_slot, first_block_slot };

// The table of rank closing.rank: its part of each block, or what that would be if the store were
// sharded.
RankTable rank_table(const RangeTable& table, DType dtype, const StepClosing& closing);

// What rank closing.rank keeps of the optimizer's state, of the weights, and of the exchanged
// gradients. Weights that are not trained are whole on every rank.
VectorLayout state_layout(const RangeTable& table, DType dtype, const StepClosing& closing);
VectorLayout weight_layout(const RangeTable& table, DType dtype, const StepClosing& closing);
VectorLayout gradient_layout(const RangeTable& table, DType dtype, const StepClosing& closing);

}  // namespace tutti
