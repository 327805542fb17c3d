// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/memory.h"

#include "tutti/graph/op.h"
#include "tutti/ops/join.h"
#include "tutti/ops/section.h"
#include "tutti/passes/placement.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// A place inside the memory of value `id`; or, in Block::values, the place of value `id` in the
// block.
struct Inside {
  ValueId id = no_value;
  std::int64_t offset_bytes = 0;
};

// A piece of the arena, and the values in it or the node whose scratch memory it is.
struct Block {
  Piece piece;
  std::vector<Inside> values = {};
  int scratch_of = no_node;
};

// Where the output of a view or of a reduce_scatter lies in its input. A join has no such place:
// its inputs lie in its output.
Inside source_of(const Graph& graph, const Node& node) {
  if (node.op == &ops::join) return {};
  const bool scatters = node.op->message.kind == MessageKind::reduce_scatter;
  if (!scatters && !node.op->view) return {};
  const ValueId source = node.inputs[0];
  const std::int64_t element_bytes = bytes_of(graph.type(source).dtype);
  if (node.op == &ops::section) return {source, node.settings.integer("offset") * element_bytes};
  if (scatters) return {source, node.settings.integer("part_offset") * element_bytes};
  return {source, 0};
}

// For each value that a join in the arena puts into a block: its place in the block.
std::vector<Inside> joined(const Graph& graph) {
  std::vector<Inside> blocks(graph.values.size());
  for (const Node& node : graph.nodes) {
    if (node.op != &ops::join || graph.value(node.outputs[0]).place.base != Base::arena) continue;
    const Shape& firsts = node.settings.integers("firsts");
    check(firsts.size() == node.inputs.size(),
          "a join in the arena says where its inputs are made");
    for (std::size_t k = 0; k < firsts.size(); ++k)
      blocks[static_cast<std::size_t>(node.inputs[k])] = {
          node.outputs[0], firsts[k] * bytes_of(graph.type(node.inputs[k]).dtype)};
  }
  return blocks;
}

// The last node that reads each value, directly or through a view of it.
std::vector<int> last_uses(const Graph& graph) {
  std::vector<int> last(graph.values.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].outputs)
      last[static_cast<std::size_t>(id)] = static_cast<int>(i);
    for (ValueId id : graph.nodes[i].inputs)
      if (id != no_value) last[static_cast<std::size_t>(id)] = static_cast<int>(i);
  }
  // A sent value is used to the end of the step: the message may still be under way when the node
  // that started it is done.
  for (const Node& node : graph.nodes)
    if (node.op->message.kind == MessageKind::send)
      for (ValueId id : node.inputs)
        last[static_cast<std::size_t>(id)] = static_cast<int>(graph.nodes.size());
  for (ValueId id : graph.outputs)
    last[static_cast<std::size_t>(id)] = static_cast<int>(graph.nodes.size());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Inside source = source_of(graph, *node);
    if (source.id == no_value) continue;
    int& used = last[static_cast<std::size_t>(source.id)];
    used = std::max(used, last[static_cast<std::size_t>(node->outputs[0])]);
  }
  return last;
}

// Blocks of all arena values; views and in-place outputs join the block of their input.
std::vector<Block> blocks_of(Graph& graph, const Backend& backend, bool in_place) {
  const std::vector<int> last = last_uses(graph);
  const std::vector<Inside> block_for = joined(graph);
  std::vector<Block> blocks;
  std::vector<int> block_of(graph.values.size(), -1);
  std::vector<std::int64_t> offset_in_block(graph.values.size(), 0);

  const auto begin_block = [&](ValueId id, std::size_t i) {
    const auto v = static_cast<std::size_t>(id);
    block_of[v] = static_cast<int>(blocks.size());
    blocks.push_back({.piece = {aligned(graph.value(id).bytes()), static_cast<int>(i), last[v]},
                      .values = {{id, 0}}});
  };
  const auto host_of = [&](std::size_t i, std::size_t out) -> Inside {
    const Node& node = graph.nodes[i];
    if (const Inside source = source_of(graph, node); source.id != no_value) return source;
    if (const Inside block = block_for[static_cast<std::size_t>(node.outputs[out])];
        block.id != no_value) {
      if (block_of[static_cast<std::size_t>(block.id)] < 0) begin_block(block.id, i);
      return block;
    }
    if (!in_place) return {};
    for (const InPlace& pair : node.op->in_place) {
      if (pair.out != static_cast<int>(out)) continue;
      const ValueId in = node.inputs[static_cast<std::size_t>(pair.in)];
      if (in == no_value || block_of[static_cast<std::size_t>(in)] < 0) continue;
      const Block& block = blocks[static_cast<std::size_t>(block_of[static_cast<std::size_t>(in)])];
      const bool dies = block.piece.last == static_cast<int>(i);
      const bool once = std::count(node.inputs.begin(), node.inputs.end(), in) == 1;
      if (dies && once && graph.value(in).bytes() == graph.value(node.outputs[out]).bytes() &&
          backend.in_place(graph, node, pair.in, pair.out))
        return {in, 0};
    }
    return {};
  };

  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (std::size_t k = 0; k < graph.nodes[i].outputs.size(); ++k) {
      const ValueId id = graph.nodes[i].outputs[k];
      const auto v = static_cast<std::size_t>(id);
      if (graph.value(id).place.base != Base::arena) continue;
      if (block_of[v] >= 0) continue;  // a joined block, which began with its first input
      const Inside host = host_of(i, k);
      if (host.id == no_value) {
        begin_block(id, i);
        continue;
      }
      const auto h = static_cast<std::size_t>(host.id);
      if (graph.value(host.id).place.base != Base::arena) {
        graph.value(id).place = graph.value(host.id).place;  // a view of persistent memory
        graph.value(id).place.offset_bytes += host.offset_bytes;
        continue;
      }
      block_of[v] = block_of[h];
      offset_in_block[v] = offset_in_block[h] + host.offset_bytes;
      Block& block = blocks[static_cast<std::size_t>(block_of[v])];
      block.piece.last = std::max(block.piece.last, last[v]);
      block.values.push_back({id, offset_in_block[v]});
    }
  }
  return blocks;
}

void add_scratch(const Graph& graph, const Backend& backend, std::vector<Block>& blocks) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::int64_t bytes = backend.scratch_bytes(graph, graph.nodes[i]);
    if (bytes <= 0) continue;
    const int at = static_cast<int>(i);
    blocks.push_back({.piece = {aligned(bytes), at, at}, .scratch_of = at});
  }
}

}  // namespace

MemoryPlan plan_memory(Graph& graph, const Backend& backend, bool reuse) {
  std::vector<Block> blocks = blocks_of(graph, backend, reuse);
  if (!reuse)
    for (Block& block : blocks)
      block.piece.first = 0, block.piece.last = static_cast<int>(graph.nodes.size());
  add_scratch(graph, backend, blocks);
  std::vector<Piece> pieces;
  for (const Block& block : blocks) pieces.push_back(block.piece);
  const Placement placement = place_pieces(pieces);
  MemoryPlan plan{.arena_bytes = placement.bytes,
                  .live_bytes = placement.live_bytes,
                  .scratch_offset = std::vector<std::int64_t>(graph.nodes.size(), -1)};
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const std::int64_t offset = placement.offsets[k];
    if (blocks[k].scratch_of != no_node)
      plan.scratch_offset[static_cast<std::size_t>(blocks[k].scratch_of)] = offset;
    for (const Inside& value : blocks[k].values)
      graph.value(value.id).place.offset_bytes = offset + value.offset_bytes;
  }
  return plan;
}

}  // namespace tutti
