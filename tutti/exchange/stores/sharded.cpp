// SPDX-License-Identifier: Apache-2.0
// Each rank updates its own part of every block, between a reduce-scatter of the gradient and an
// allgather of the weights: together the ranks are the store.
#include "tutti/exchange/stores/sharded.h"

#include "tutti/exchange/stores/endpoints.h"
#include "tutti/exchange/stores/store.h"
#include "tutti/graph/op.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/join.h"

namespace tutti {
namespace {

bool is_join(const Graph& graph, NodeId node) {
  return node != no_node && graph.nodes[static_cast<std::size_t>(node)].op == &ops::join;
}

// Sums a block over ranks, behind the joins of all blocks that the same node fills: these joins
// read what the sum overwrites.
ValueId reduce_scatter(BlockNodes& nodes, const Block& block, ValueId all) {
  Graph& graph = nodes.graph();
  NodeOrder& order = nodes.order();
  NodeId behind = graph.value(all).producer;
  for (NodeId next = order.next(behind); is_join(graph, next); next = order.next(next))
    behind = next;
  ValueId sent = all;
  if (nodes.closing().encodes()) {
    sent = nodes.encoded(block, all, behind);
    behind = graph.value(sent).producer;
  }
  const ValueId part = nodes.reduce_scattered(block, sent);
  graph.value(part).place = nodes.own_place(Base::gradients, block);
  if (nodes.closing().encodes()) {
    graph.value(part).place = nodes.encoded_place(block.offset + block.own.begin);
    graph.value(part).place.slot = block.slot;
  }
  order.insert_behind(behind);
  return part;
}

void allgather(BlockNodes& nodes, const Block& block, ValueId part) {
  Graph& graph = nodes.graph();
  const ValueId all = nodes.named(block, graph.add1(ops::allgather, {part},
                                                    {{"axes", block.axis},
                                                     {"part_offset", block.own.begin},
                                                     {"count", block.count()}}));
  graph.nodes.back().bound = {{"part_offset", block.slot}};
  graph.value(all).place = nodes.at(Base::weights, block.offset);
}

}  // namespace

// Blocks are handled from the last filled to the first, so that blocks which one node fills
// together travel in the order of the flat vectors.
std::vector<ValueId> collect_parts(BlockNodes& nodes, const std::vector<FilledBlock>& blocks) {
  std::vector<ValueId> gradients(blocks.size());
  for (std::size_t k = blocks.size(); k-- > 0;) gradients[k] = nodes.joined(blocks[k]);
  for (std::size_t k = blocks.size(); k-- > 0;)
    if (!nodes.is_own_part(blocks[k]))
      gradients[k] = reduce_scatter(nodes, blocks[k].block, gradients[k]);
  return gradients;
}

extern const Store sharded_store;

const Store sharded_store{
    .name = "sharded",
    .doc =
        "each rank updates, and keeps the state of, its own part of every block, between a "
        "reduce-scatter of the gradient and an allgather of the weights",
    .owns_parts = true,
    .collect = collect_parts,
    .publish = allgather,
    .push = push_and_pull,
};

}  // namespace tutti
