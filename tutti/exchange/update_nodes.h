// SPDX-License-Identifier: Apache-2.0
// The nodes that update blocks: norms over all of them and over single ranges, where the rule or a
// bound asks for these, and the update of what the rank owns.
#pragma once

#include "tutti/exchange/block_nodes.h"

#include <map>
#include <vector>

namespace tutti {

// What an update of a block, or a measurement for it, is told.
Settings update_settings(const Updating& update, const Block& block);

class UpdateNodes {
 public:
  // `gradients` are those to update with, block by block.
  UpdateNodes(BlockNodes& nodes, const std::vector<FilledBlock>& blocks,
              std::vector<ValueId> gradients)
      : nodes_(nodes), blocks_(blocks), gradients_(std::move(gradients)) {}

  // √Σ g² over all blocks, which updates read from then on. Each rank adds the squares of the parts
  // that it owns, or would own: of `owned`, which lie inside the blocks. So the bits are the same
  // whoever updates.
  void add_norm(const std::vector<Block>& owned);
  // Updates block k. Its Σ g² lies at `result_offset` of the results.
  void add_update(std::size_t k, std::int64_t result_offset);
  // Behind all updates: a gradient that is not finite stops those of later steps. Without a norm it
  // is seen only when other blocks have been updated.
  void add_guard(std::int64_t results_offset);

 private:
  Graph& graph() { return nodes_.graph(); }
  const StepClosing& closing() const { return nodes_.closing(); }
  std::vector<ValueId> inputs_of(const Block& block, ValueId g);
  ValueId squares_of(std::size_t k);
  ValueId summed(const std::vector<ValueId>& squares, std::int64_t results_offset);

  BlockNodes& nodes_;
  const std::vector<FilledBlock>& blocks_;
  std::vector<ValueId> gradients_;
  ValueId norm_ = no_value;
  std::map<std::int64_t, ValueId> squares_;                  // by the range's offset
  std::map<std::int64_t, std::vector<std::size_t>> pieces_;  // of each range: its blocks
};

}  // namespace tutti
