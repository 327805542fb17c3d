// SPDX-License-Identifier: Apache-2.0
// The nodes that update blocks: norms over all blocks and over single ranges, where the rule or a
// bound asks for norms, and the update of what the rank owns.
#pragma once

#include "tutti/exchange/block_nodes.h"

#include <map>
#include <vector>

namespace tutti {

// The settings of the operators `update` and `measure` for a block.
Settings update_settings(const Updating& update, const Block& block);

// Adds the updates of a step to its graph, behind all gradients.
class UpdateNodes {
 public:
  // `gradients` are those to update with, block by block.
  UpdateNodes(BlockNodes& nodes, const std::vector<FilledBlock>& blocks,
              std::vector<ValueId> gradients)
      : nodes_(nodes), blocks_(blocks), gradients_(std::move(gradients)) {}

  // Adds √Σ g² over all blocks, which later updates read. Each rank squares its own parts of the
  // blocks `owned` (owned_blocks_of, each inside one of the blocks), whatever the store: so the
  // bits do not depend on the store.
  void add_norm(const std::vector<Block>& owned);
  // Adds the update of block k. Its Σ g² lies at `result_offset` of the results.
  void add_update(std::size_t k, std::int64_t result_offset);
  // Adds the guard behind all updates: a gradient that is not finite stops the updates of later
  // steps. Without a norm such a gradient is seen only when other blocks have been updated.
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
  std::map<std::int64_t, ValueId> squares_;                  // by offset of a range
  std::map<std::int64_t, std::vector<std::size_t>> pieces_;  // its blocks, by offset of a range
};

}  // namespace tutti
