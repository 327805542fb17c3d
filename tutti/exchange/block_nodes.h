// SPDX-License-Identifier: Apache-2.0
// What entries of a scheme use to add their nodes: blocks with the gradients that fill them, and
// where the parts of a block lie in a rank's vectors.
#pragma once

#include "tutti/exchange/blocks.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/node_order.h"

#include <string>
#include <vector>

namespace tutti {

// A block, and what fills it in the graph.
struct FilledBlock {
  Block block;
  std::vector<ValueId> gradients = {};
  NodeId last = no_node;    // the last node that writes into it
  ValueId rows = no_value;  // those that change, where the others stay as they are
  std::int64_t row_width = 0;
};

// The blocks, given in order of offset, in the order in which the backward pass fills them.
std::vector<FilledBlock> filled_blocks(Graph& graph, const std::vector<Block>& blocks);

class BlockNodes {
 public:
  BlockNodes(Graph& graph, const StepClosing& closing, DType dtype)
      : graph_(graph), order_(graph), closing_(closing), dtype_(dtype) {}

  Graph& graph() { return graph_; }
  NodeOrder& order() { return order_; }
  const StepClosing& closing() const { return closing_; }
  DType dtype() const { return dtype_; }

  // Whether the gradient was multiplied from gathered factors: this rank's part of it, complete.
  bool is_own_part(const FilledBlock& filled) const;

  // A node that was just added is called by its block.
  ValueId named(const Block& block, ValueId made);
  // The block of g that the gradients fill, right behind the node that does so last. With `axes`
  // it is summed over them.
  ValueId joined(const FilledBlock& filled, const std::string& axes = "");
  // The node that was just added makes all of the block, in its place in g.
  void finish_filling(FilledBlock& filled);

  // In the form in which the block travels; in memory of its own where that is kept. Runs behind
  // `node`.
  ValueId encoded(const Block& block, ValueId plain, NodeId behind);
  // What has travelled encoded becomes this rank's part of g again.
  void decode(const Block& block, ValueId& gradient);
  // Of the `first`-th element of what is kept encoded.
  Place encoded_place(std::int64_t first) const;

  // This rank's part of a block, summed over ranks.
  ValueId reduce_scattered(const Block& block, ValueId all);

  Place at(int base, std::int64_t element) const { return {base, element * bytes_of(dtype_)}; }
  // Of this rank's part of a block, in a vector that holds whole ones and in one that holds parts.
  Place own_place(int base, const Block& block) const;
  Place state_place(int base, const Block& block) const;
  ValueId own_part(const char* name, const Block& block, Place place);
  // All of a block of a vector that is whole on every rank.
  ValueId whole_block(const char* name, const Block& block, int base);

 private:
  Graph& graph_;
  NodeOrder order_;
  const StepClosing& closing_;
  DType dtype_;
};

}  // namespace tutti
