// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/memory.h"

#include "tutti/graph/op.h"
#include "tutti/ops/range.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// A value inside another's memory, or inside a block's.
struct Inside {
  ValueId id = no_value;
  std::int64_t offset_bytes = 0;
};

// A piece of the arena that is in use from node `first` to node `last`.
struct Block {
  std::int64_t bytes = 0;
  int first = 0, last = 0;
  std::int64_t offset = -1;
  std::vector<Inside> values;
  int scratch_of = no_node;
};

// Where the output of a view, or of an operator that works on its input, lies in that input. Not of
// a join: its inputs lie in its output.
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

// Of each value that a join in the arena puts into a block: that block.
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

bool meet(const Block& a, const Block& b) { return a.first <= b.last && b.first <= a.last; }

// The last node that reads each value, directly or through a view of it.
std::vector<int> last_uses(const Graph& graph) {
  std::vector<int> last(graph.values.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].outputs)
      last[static_cast<std::size_t>(id)] = static_cast<int>(i);
    for (ValueId id : graph.nodes[i].inputs)
      if (id != no_value) last[static_cast<std::size_t>(id)] = static_cast<int>(i);
  }
  // A message may still be under way when the node that started it is done.
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
    blocks.push_back({.bytes = aligned(graph.value(id).bytes()),
                      .first = static_cast<int>(i),
                      .last = last[v],
                      .offset = -1,
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
      const bool dies = block.last == static_cast<int>(i);
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
      if (block_of[v] >= 0) continue;  // joined from what lies in it already
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
      block.last = std::max(block.last, last[v]);
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
    blocks.push_back({.bytes = aligned(bytes),
                      .first = at,
                      .last = at,
                      .offset = -1,
                      .values = {},
                      .scratch_of = at});
  }
}

// Places blocks in the given order, each at the lowest offset free during its life.
std::int64_t place(std::vector<Block>& blocks, const std::vector<std::size_t>& order) {
  std::int64_t peak = 0;
  std::vector<const Block*> placed;  // sorted by offset
  for (std::size_t index : order) {
    Block& block = blocks[index];
    std::int64_t offset = 0;
    for (const Block* other : placed) {
      if (!meet(block, *other)) continue;
      if (other->offset >= offset + block.bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    block.offset = offset;
    peak = std::max(peak, offset + block.bytes);
    const auto after =
        std::upper_bound(placed.begin(), placed.end(), &block,
                         [](const Block* a, const Block* b) { return a->offset < b->offset; });
    placed.insert(after, &block);
  }
  return peak;
}

std::int64_t most_alive(const std::vector<Block>& blocks, std::size_t nodes) {
  std::vector<std::int64_t> alive(nodes + 2, 0);
  for (const Block& block : blocks) {
    alive[static_cast<std::size_t>(block.first)] += block.bytes;
    alive[static_cast<std::size_t>(block.last) + 1] -= block.bytes;
  }
  std::int64_t now = 0, most = 0;
  for (std::int64_t change : alive) most = std::max(most, now += change);
  return most;
}

// Several orders are tried, each improved by placing the block that makes the peak first; the
// smallest arena wins.
std::int64_t place_best(std::vector<Block>& blocks, std::int64_t lower_bound) {
  constexpr int improvements = 100;
  using Key = std::function<double(const Block&)>;
  const auto bytes = [](const Block& b) { return static_cast<double>(b.bytes); };
  const auto life = [](const Block& b) { return static_cast<double>(b.last - b.first + 1); };
  const Key keys[] = {bytes, life, [&](const Block& b) { return bytes(b) * life(b); },
                      [](const Block& b) { return -static_cast<double>(b.first); },
                      [](const Block& b) { return static_cast<double>(b.last); }};
  std::vector<Block> best = blocks;
  std::int64_t best_peak = std::numeric_limits<std::int64_t>::max();
  for (const Key& key : keys) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(blocks[a]) > key(blocks[b]); });
    for (int k = 0; k <= improvements && best_peak > lower_bound; ++k) {
      const std::int64_t peak = place(blocks, order);
      if (peak < best_peak) {
        best_peak = peak;
        best = blocks;
      }
      const auto highest = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
        return blocks[index].offset + blocks[index].bytes == peak;
      });
      if (highest != order.end()) std::rotate(order.begin(), highest, highest + 1);
    }
  }
  blocks = std::move(best);
  return best_peak;
}

}  // namespace

MemoryPlan plan_memory(Graph& graph, const Backend& backend, bool reuse) {
  std::vector<Block> blocks = blocks_of(graph, backend, reuse);
  if (!reuse)
    for (Block& block : blocks) block.first = 0, block.last = static_cast<int>(graph.nodes.size());
  add_scratch(graph, backend, blocks);
  MemoryPlan plan;
  plan.scratch_offset.assign(graph.nodes.size(), -1);
  plan.live_bytes = most_alive(blocks, graph.nodes.size());
  plan.arena_bytes = place_best(blocks, plan.live_bytes);
  for (const Block& block : blocks) {
    if (block.scratch_of != no_node)
      plan.scratch_offset[static_cast<std::size_t>(block.scratch_of)] = block.offset;
    for (const Inside& value : block.values)
      graph.value(value.id).place.offset_bytes = block.offset + value.offset_bytes;
  }
  return plan;
}

}  // namespace tutti
