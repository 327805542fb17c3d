// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/close_step.h"

#include "tutti/graph/op.h"
#include "tutti/ops/range.h"

#include <algorithm>

namespace tutti {
namespace {

// Neighbouring ranges that travel and are updated together.
struct Block {
  std::int64_t offset = 0, end = 0;  // elements
  double weight_decay = 0, rate = 1;
  std::string axis;  // to sum over; empty: complete on this rank
  std::vector<ValueId> gradients = {};
  NodeId filled = no_node;  // the last node that writes into it
};

std::string partial_axis(const Graph& graph, const Range& range) {
  for (const PartialRange& partial : graph.partial)
    if (partial.offset == range.offset) return partial.axis;
  return "";
}

// Blocks in order of offset. Large ranges stay alone: a team then updates each in the same parts in
// which it made the gradient and reads the weights.
std::vector<Block> blocks_of(const Graph& graph, const RangeTable& table,
                             const StepClosing& closing, std::int64_t element_bytes) {
  std::vector<Block> blocks;
  for (const Range& range : table.ranges) {
    if (!range.trainable) continue;
    const Block own{.offset = range.offset,
                    .end = range.end(),
                    .weight_decay = range.weight_decay * closing.weight_decay,
                    .rate = range.rate,
                    .axis = partial_axis(graph, range)};
    const auto joins = [&](const Block& last) {
      const bool adjacent = own.offset - last.end < RangeTable::alignment;
      const bool fits = (own.end - last.offset) * element_bytes <= closing.block_bytes;
      return adjacent && fits && last.weight_decay == own.weight_decay && last.rate == own.rate &&
             last.axis == own.axis;
    };
    if (!blocks.empty() && joins(blocks.back()))
      blocks.back().end = own.end;
    else
      blocks.push_back(own);
  }
  return blocks;
}

// Finds the gradient values inside each block and the node that fills it last.
void collect_gradients(const Graph& graph, std::vector<Block>& blocks) {
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.place.base != Base::gradients || value.producer == no_node) continue;
    const std::int64_t offset = value.place.offset_bytes / bytes_of(value.type.dtype);
    for (Block& block : blocks) {
      if (offset < block.offset || offset >= block.end) continue;
      block.gradients.push_back(static_cast<ValueId>(id));
      block.filled = std::max(block.filled, value.producer);
    }
  }
}

class Closing {
 public:
  Closing(Graph& graph, const StepClosing& closing, DType dtype)
      : graph_(graph), closing_(closing), dtype_(dtype) {}

  // The block of g that the gradients lie in, summed over ranks where it is partial; the node
  // stands right behind the one that fills it.
  ValueId gather(const Block& block) {
    Settings settings{{"offset", block.offset},
                      {"count", block.end - block.offset},
                      {"dtype", std::string(name_of(dtype_))}};
    const bool travels = !block.axis.empty();
    if (travels) settings.set("axis", block.axis);
    const ValueId sum = graph_.add1(travels ? ops::reduce : ops::join, block.gradients, settings);
    graph_.value(sum).place = at(Base::gradients, block);
    std::rotate(graph_.nodes.begin() + block.filled + 1, graph_.nodes.end() - 1,
                graph_.nodes.end());
    renumber(graph_);
    return sum;
  }

  void update(const Block& block, ValueId g, ValueId norm, std::int64_t result_offset) {
    std::vector<ValueId> in = {g, flat("w", Base::weights, block)};
    for (int k = 0; k < closing_.rule->states; ++k)
      in.push_back(flat("state", Base::optimizer + k, block));
    if (norm != no_value) in.push_back(norm);
    const std::vector<ValueId> out =
        graph_.add(ops::update, in,
                   {{"rule", closing_.rule->name},
                    {"hyper", rule_numbers(*closing_.rule, closing_.rule_settings)},
                    {"rate_multiplier", block.rate},
                    {"weight_decay", block.weight_decay},
                    {"clip_value", closing_.clip_value},
                    {"clip_norm", closing_.clip_norm}});
    graph_.value(out[0]).place = at(Base::weights, block);
    for (int k = 0; k < closing_.rule->states; ++k)
      graph_.value(out[static_cast<std::size_t>(1 + k)]).place = at(Base::optimizer + k, block);
    graph_.value(out.back()).place = {Base::results, result_offset};
    graph_.value(out.back()).name = "square sum";
    graph_.results.push_back(out.back());
  }

 private:
  Place at(int base, const Block& block) const { return {base, block.offset * bytes_of(dtype_)}; }

  ValueId flat(const char* name, int base, const Block& block) {
    return graph_.add_value(name, {dtype_, {block.end - block.offset}}, at(base, block));
  }

  Graph& graph_;
  const StepClosing& closing_;
  DType dtype_;
};

}  // namespace

void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes) {
  std::vector<Block> blocks = blocks_of(graph, table, closing, bytes_of(dtype));
  collect_gradients(graph, blocks);
  // Those filled last first: inserting a node then moves no block still to come.
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.filled > b.filled; });
  Closing step(graph, closing, dtype);
  std::vector<ValueId> gradients;
  for (const Block& block : blocks) gradients.push_back(step.gather(block));
  std::reverse(blocks.begin(), blocks.end());
  std::reverse(gradients.begin(), gradients.end());

  const ValueId norm = closing.clip_norm > 0 ? graph.add1(ops::gradient_norm, gradients) : no_value;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    step.update(blocks[i], gradients[i], norm,
                results_offset_bytes + 8 * static_cast<std::int64_t>(i));
}

}  // namespace tutti
