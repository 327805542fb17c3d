// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/blocks.h"

#include <algorithm>
#include <set>

namespace tutti {
namespace {

// Whether the update may leave out rows of a range that the batch does not touch: on one rank, with
// one micro-batch, and where nothing reads the whole gradient.
bool may_be_sparse(const Range& range, const StepClosing& closing) {
  const Updating& update = closing.update;
  if (!range.row_sparse || update.sparse_rows == SparseRows::off) return false;
  if (closing.ranks > 1 || closing.accumulates || update.clip_norm > 0 || update.guarded ||
      update.local.change != nullptr)
    return false;
  if (update.rule->measure != nullptr && range.trust_ratio) return false;
  if (update.sparse_rows == SparseRows::lazy) return true;
  return update.rule->still && range.weight_decay * update.weight_decay == 0;
}

// Merges neighbouring ranges to blocks. A large range stays alone: a team of threads then updates
// it in the same parts in which it made the gradient and reads the weights.
std::vector<Block> merged(const RangeTable& table, DType dtype, const StepClosing& closing,
                          const AxisOf& axis) {
  std::vector<Block> blocks;
  const bool measures = closing.update.rule->measure != nullptr;
  const std::set<std::int64_t> factored(closing.factored.begin(), closing.factored.end());
  for (const Range& range : table.ranges) {
    if (!range.trainable) continue;
    const Block own{.offset = range.offset,
                    .end = range.end(),
                    .weight_decay = range.weight_decay * closing.update.weight_decay,
                    .rate = range.rate,
                    .measured = measures && range.trust_ratio ? range.offset : -1,
                    .factored = factored.count(range.offset) > 0,
                    .sparse = may_be_sparse(range, closing),
                    .axis = axis(range),
                    .first = range.name,
                    .last = range.name};
    const auto joins = [&](const Block& last) {
      const bool adjacent = own.offset - last.end < RangeTable::alignment;
      const bool fits = (own.end - last.offset) * bytes_of(dtype) <= closing.scheme.block_bytes;
      return adjacent && fits && last.weight_decay == own.weight_decay && last.rate == own.rate &&
             last.axis == own.axis && last.measured < 0 && own.measured < 0 && !last.sparse &&
             !own.sparse && !last.factored && !own.factored;
    };
    if (!blocks.empty() && joins(blocks.back()))
      blocks.back().end = own.end, blocks.back().last = own.last;
    else
      blocks.push_back(own);
  }
  return blocks;
}

// Cuts blocks that have more than `most` elements; factored ones stay whole.
std::vector<Block> cut(const std::vector<Block>& blocks, std::int64_t most) {
  std::vector<Block> pieces;
  for (const Block& block : blocks) {
    const std::int64_t step = block.factored ? block.count() : most;
    for (std::int64_t offset = block.offset; offset < block.end; offset += step) {
      pieces.push_back(block);
      pieces.back().offset = offset;
      pieces.back().end = std::min(block.end, offset + step);
      pieces.back().whole_offset = block.offset;
      pieces.back().whole_end = block.end;
    }
  }
  return pieces;
}

std::int64_t aligned(std::int64_t offset) {
  constexpr std::int64_t step = RangeTable::alignment;
  return (offset + step - 1) / step * step;
}

VectorLayout whole(const RangeTable& table) { return {{{0, table.count(), 0}}, table.count()}; }

}  // namespace

std::vector<Block> blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                             const AxisOf& axis) {
  if (closing.sharded()) return owned_blocks_of(table, dtype, closing, axis);
  std::vector<Block> blocks = merged(table, dtype, closing, axis);
  for (Block& block : blocks) block.own = {0, block.count()}, block.state_offset = block.offset;
  return blocks;
}

std::vector<Block> owned_blocks_of(const RangeTable& table, DType dtype, const StepClosing& closing,
                                   const AxisOf& axis) {
  const std::int64_t most =
      std::max(RangeTable::alignment, closing.scheme.block_bytes / bytes_of(dtype));
  std::vector<Block> blocks = cut(merged(table, dtype, closing, axis), aligned(most));
  std::int64_t state_offset = 0;
  int slot = first_block_slot;
  for (Block& block : blocks) {
    block.slot = slot, slot += 3;
    block.own = part_of(block.count(), dtype, closing.rank, closing.ranks);
    block.state_offset = state_offset;
    state_offset = aligned(state_offset + block.own.count());
  }
  return blocks;
}

RankTable rank_table(const RangeTable& table, DType dtype, const StepClosing& closing) {
  if (closing.ranks == 1 || closing.update.rule == nullptr) return {0, 1, 0};
  RankTable numbers{closing.rank, closing.rank == 0 ? 1 : 0, 0};
  for (const Block& block :
       owned_blocks_of(table, dtype, closing, [](const Range&) { return ""; })) {
    numbers.insert(numbers.end(), {block.own.begin, block.own.count(), block.state_offset});
    numbers[states_end_slot] = aligned(block.state_offset + block.own.count());
  }
  return numbers;
}

VectorLayout state_layout(const RangeTable& table, DType dtype, const StepClosing& closing) {
  if (!closing.owns_parts()) return whole(table);
  VectorLayout layout;
  for (const Block& block :
       owned_blocks_of(table, dtype, closing, [](const Range&) { return ""; })) {
    layout.parts.push_back({block.offset + block.own.begin, block.own.count(), block.state_offset});
    layout.count = block.state_offset + block.own.count();
  }
  return layout;
}

VectorLayout weight_layout(const RangeTable& table, DType dtype, const StepClosing& closing) {
  if (!closing.shards_weights()) return whole(table);
  VectorLayout layout = state_layout(table, dtype, closing);
  for (const Range& range : table.ranges) {
    if (range.trainable) continue;
    layout.parts.push_back({range.offset, range.count, aligned(layout.count)});
    layout.count = aligned(layout.count) + range.count;
  }
  return layout;
}

VectorLayout gradient_layout(const RangeTable& table, DType dtype, const StepClosing& closing) {
  return closing.shards_gradients() ? state_layout(table, dtype, closing) : whole(table);
}

}  // namespace tutti
