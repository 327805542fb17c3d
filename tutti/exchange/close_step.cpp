// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/close_step.h"

#include "tutti/exchange/block_nodes.h"
#include "tutti/exchange/guard.h"
#include "tutti/exchange/update_nodes.h"
#include "tutti/graph/op.h"
#include "tutti/ops/barrier.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/scale.h"

#include <map>

namespace tutti {
namespace {

// The axis that a partial range must be summed over, by the range's offset.
using PartialAxes = std::map<std::int64_t, std::string>;

PartialAxes partial_axes(const Graph& graph) {
  PartialAxes axes;
  for (const PartialRange& partial : graph.partial)
    if (!partial.is_summed) axes.emplace(partial.offset, partial.axes);
  return axes;
}

// Whether a value is a gradient that is computed: not one that is constant.
bool is_made(const Graph& graph, const Value& gradient) {
  return gradient.place.base == Base::gradients && gradient.producer != no_node &&
         graph.nodes[static_cast<std::size_t>(gradient.producer)].op != &ops::constant;
}

// Where ranks own parts, all gradients are summed over one axis, which is returned. A gradient that
// is complete already (it was made of sums over ranks) counts on rank 0 only, so that its sum is
// the gradient itself, bit for bit. The gradient of a parameter that the loss does not depend on is
// zero on every rank, and so is its sum.
std::string sum_over_one_axis(Graph& graph, const RangeTable& table, const StepClosing& closing) {
  check(!graph.partial.empty(), "gradients are shared out over an axis");
  const std::string axis = graph.partial[0].axes;
  PartialAxes axes = partial_axes(graph);
  NodeOrder order(graph);
  const std::size_t values = graph.values.size();
  for (std::size_t id = 0; id < values; ++id) {
    if (!is_made(graph, graph.values[id])) continue;
    const Place place = graph.values[id].place;
    const NodeId producer = graph.values[id].producer;
    const std::int64_t offset = place.offset_bytes / bytes_of(graph.values[id].type.dtype);
    const Range* range = table.at(offset);
    if (range == nullptr || axes.count(offset) > 0) continue;
    graph.values[id].place = {};
    const ValueId once = graph.add1(ops::scale, {static_cast<ValueId>(id)},
                                    {{"factor", closing.rank == 0 ? 1.0 : 0.0}});
    graph.nodes.back().bound = {{"factor", is_first_slot}};
    graph.value(once).place = place;
    graph.value(once).name = graph.values[id].name;
    order.insert_behind(producer);
    graph.partial.push_back({range->offset, range->count, axis});
    axes.emplace(range->offset, axis);
  }
  order.apply();
  return axis;
}

// Closes the step where ranks do not meet: each rank pushes its own gradients to the store.
void close_alone(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                 std::int64_t results_offset_bytes) {
  BlockNodes nodes(graph, closing, dtype);
  const std::vector<Block> blocks =
      owned_blocks_of(table, dtype, closing, [](const Range&) { return ""; });
  closing.scheme.store.push(nodes, filled_blocks(graph, blocks), results_offset_bytes);
}

AxisOf axis_of_ranges(Graph& graph, const RangeTable& table, const StepClosing& closing) {
  if (closing.sharded())
    return [common = sum_over_one_axis(graph, table, closing)](const Range&) { return common; };
  return [axes = partial_axes(graph)](const Range& range) {
    const auto found = axes.find(range.offset);
    return found == axes.end() ? std::string() : found->second;
  };
}

}  // namespace

void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes, double part_of_samples) {
  check(graph.partial.empty() || closing.ranks > 1, "whoever sums over ranks knows how many");
  if (!closing.meets()) return close_alone(graph, table, dtype, closing, results_offset_bytes);
  const AxisOf axis = axis_of_ranges(graph, table, closing);
  const Updating& update = closing.update;
  BlockNodes nodes(graph, closing, dtype);
  std::vector<FilledBlock> blocks = filled_blocks(graph, blocks_of(table, dtype, closing, axis));
  if (update.local.change != nullptr)
    for (FilledBlock& block : blocks)
      update.local.change(nodes, block, update.rule->states, part_of_samples);
  const Store store = closing.ranks > 1 ? closing.scheme.store : stores().find("all");
  UpdateNodes updates(nodes, blocks, store.collect(nodes, blocks));
  // The guard belongs to the update, which begins behind all gradients.
  if (const ValueId word = bad_step_of(graph); word != no_value)
    nodes.order().move_before(graph.value(word).producer, no_node);
  nodes.order().apply();
  if (closing.common_weights) graph.add(ops::barrier, {}, {{"axes", graph.partial[0].axes}});
  if (update.clip_norm > 0 || update.guarded)
    updates.add_norm(owned_blocks_of(table, dtype, closing, axis));
  for (std::size_t k = 0; k < blocks.size(); ++k)
    updates.add_update(k, results_offset_bytes + 8 * static_cast<std::int64_t>(k));
  updates.add_guard(results_offset_bytes);
}

std::int64_t square_sums_of(const RangeTable& table, DType dtype, const StepClosing& closing) {
  // An upper bound that needs no axes: where blocks are not cut, each range is counted by itself.
  StepClosing apart = closing;
  if (!closing.sharded()) apart.scheme.block_bytes = 0;
  return static_cast<std::int64_t>(
      blocks_of(table, dtype, apart, [](const Range&) { return ""; }).size());
}

}  // namespace tutti
