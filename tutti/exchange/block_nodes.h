// SPDX-License-Identifier: Apache-2.0
// What the entries of a scheme add their nodes with: blocks with the gradients that fill them, and
// the places of blocks and their parts in a rank's vectors.
#pragma once

#include "tutti/exchange/blocks.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/node_order.h"

#include <string>
#include <vector>

namespace tutti {

// A block, and the values of the graph that fill it.
struct FilledBlock {
  Block block;
  std::vector<ValueId> gradients = {};
  NodeId last = no_node;    // the last node that writes into the block
  ValueId rows = no_value;  // numbers of the rows that have a gradient; no_value: all have one
  std::int64_t row_width = 0;
};

// The blocks, given in order of offset, in the order in which the backward pass fills them.
std::vector<FilledBlock> filled_blocks(Graph& graph, const std::vector<Block>& blocks);

// Adds nodes for blocks to the graph of a step.
class BlockNodes {
 public:
  BlockNodes(Graph& graph, const StepClosing& closing, DType dtype)
      : graph_(graph), order_(graph), closing_(closing), dtype_(dtype) {}

  Graph& graph() { return graph_; }
  NodeOrder& order() { return order_; }
  const StepClosing& closing() const { return closing_; }
  DType dtype() const { return dtype_; }

  // Whether the gradient is a product of gathered factors. It is then only this rank's part of the
  // block, and complete.
  bool is_own_part(const FilledBlock& filled) const;

  // Names the node that makes a value after its block. Returns the value.
  ValueId named(const Block& block, ValueId made);
  // Joins the gradients that fill a block of g, right behind the last node that fills it. With
  // `axes` the block is also summed over these axes.
  ValueId joined(const FilledBlock& filled, const std::string& axes = "");
  // Makes the output of the node that was just added the gradient of the block, in its place in g.
  void finish_filling(FilledBlock& filled);

  // Encodes a block for travelling, behind node `behind`. The result lies in the vector of encoded
  // gradients where the rank keeps one (StepClosing::keeps_encoded).
  ValueId encoded(const Block& block, ValueId plain, NodeId behind);
  // Decodes a gradient that has travelled encoded: it becomes this rank's part of g. A plain
  // gradient stays as it is.
  void decode(const Block& block, ValueId& gradient);
  // The place of element `first` in the vector of encoded gradients.
  Place encoded_place(std::int64_t first) const;

  // Sums a block over ranks. Returns this rank's part of the sum.
  ValueId reduce_scattered(const Block& block, ValueId all);

  // The place of an element in a vector that holds whole blocks.
  Place at(int base, std::int64_t element) const { return {base, element * bytes_of(dtype_)}; }
  // The place of this rank's part of a block: in a vector that holds whole blocks, and in a vector
  // that holds only the rank's parts.
  Place own_place(int base, const Block& block) const;
  Place state_place(int base, const Block& block) const;
  // A value for this rank's part of a block, at such a place.
  ValueId own_part(const char* name, const Block& block, Place place);
  // A value for a whole block, in a vector that is whole on every rank.
  ValueId whole_block(const char* name, const Block& block, int base);

 private:
  Graph& graph_;
  NodeOrder order_;
  const StepClosing& closing_;
  DType dtype_;
};

}  // namespace tutti
