// SPDX-License-Identifier: Apache-2.0
// Every rank keeps and updates everything, behind an allreduce of the gradients.
#include "tutti/exchange/block_nodes.h"
#include "tutti/exchange/stores/store.h"
#include "tutti/ops/allreduce.h"

namespace tutti {
namespace {

// Encodes a block and sums it over ranks. A block that is complete on this rank is only encoded, so
// that the bits do not depend on the store.
ValueId allreduced(BlockNodes& nodes, const Block& block, ValueId all) {
  Graph& graph = nodes.graph();
  const ValueId encoded = nodes.encoded(block, all, graph.value(all).producer);
  if (block.axis.empty()) return encoded;
  const ValueId sum =
      nodes.named(block, graph.add1(ops::allreduce, {encoded}, {{"axes", block.axis}}));
  graph.value(sum).place = nodes.encoded_place(block.offset);
  nodes.order().insert_behind(graph.value(encoded).producer);
  return sum;
}

// Blocks are handled from the last filled to the first, so that blocks which one node fills
// together travel in the order of the flat vectors.
std::vector<ValueId> collect(BlockNodes& nodes, const std::vector<FilledBlock>& blocks) {
  const bool encodes = nodes.closing().encodes();
  std::vector<ValueId> gradients(blocks.size());
  for (std::size_t k = blocks.size(); k-- > 0;)
    gradients[k] = nodes.joined(blocks[k], encodes ? "" : blocks[k].block.axis);
  for (std::size_t k = blocks.size(); k-- > 0 && encodes;)
    gradients[k] = allreduced(nodes, blocks[k].block, gradients[k]);
  return gradients;
}

}  // namespace

extern const Store all_store;

const Store all_store{
    .name = "all",
    .doc = "every rank keeps and updates everything, behind an allreduce of the gradients",
    .collect = collect,
};

}  // namespace tutti
