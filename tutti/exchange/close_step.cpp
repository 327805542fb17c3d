// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/close_step.h"

#include "tutti/exchange/blocks.h"
#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/cast.h"
#include "tutti/ops/communication.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/embedding.h"
#include "tutti/ops/range.h"
#include "tutti/ops/scale.h"

#include <algorithm>
#include <map>

namespace tutti {
namespace {

// A block of the graph: what fills it.
struct Filled {
  Block block;
  std::vector<ValueId> gradients = {};
  NodeId last = no_node;    // the last node that writes into it
  ValueId rows = no_value;  // those that change, where the others stay as they are
  std::int64_t row_width = 0;
};

// By offset of a range that must be summed: over which axis.
using PartialAxes = std::map<std::int64_t, std::string>;

PartialAxes partial_axes(const Graph& graph) {
  PartialAxes axes;
  for (const PartialRange& partial : graph.partial)
    if (!partial.is_summed) axes.emplace(partial.offset, partial.axes);
  return axes;
}

// Where ranks own parts, all gradients are summed over one axis. One that is complete already (it
// was made of sums over ranks) counts on rank 0 only, so that its sum is itself, bit for bit. One
// that nothing depends on is zero everywhere, and so is its sum.
std::string sum_over_one_axis(Graph& graph, const RangeTable& table, const StepClosing& closing) {
  check(!graph.partial.empty(), "gradients are shared out over an axis");
  const std::string axis = graph.partial[0].axes;
  PartialAxes axes = partial_axes(graph);
  NodeOrder order(graph);
  const std::size_t values = graph.values.size();
  for (std::size_t id = 0; id < values; ++id) {
    const Place place = graph.values[id].place;
    const NodeId producer = graph.values[id].producer;
    if (place.base != Base::gradients || producer == no_node ||
        graph.nodes[static_cast<std::size_t>(producer)].op == &ops::constant)
      continue;
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

// The blocks, given in order of offset, in the order in which the backward pass fills them.
std::vector<Filled> filled_blocks(const Graph& graph, const std::vector<Block>& blocks) {
  std::vector<Filled> filled(blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) filled[k].block = blocks[k];
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.place.base != Base::gradients || value.producer == no_node) continue;
    const std::int64_t offset = value.place.offset_bytes / bytes_of(value.type.dtype);
    const std::int64_t end = offset + elements(value.type.shape);
    auto one = std::partition_point(filled.begin(), filled.end(),
                                    [&](const Filled& f) { return f.block.end <= offset; });
    for (; one != filled.end() && one->block.offset < end; ++one) {
      one->gradients.push_back(static_cast<ValueId>(id));
      one->last = std::max(one->last, value.producer);
    }
  }
  std::stable_sort(filled.begin(), filled.end(),
                   [](const Filled& a, const Filled& b) { return a.last < b.last; });
  return filled;
}

// Where one embedding alone makes the gradient of a table, it writes the touched rows only, and the
// update reads no others.
void touch_rows(Graph& graph, Filled& filled) {
  if (!filled.block.sparse || filled.gradients.size() != 1) return;
  const Value& gradient = graph.value(filled.gradients[0]);
  Node& maker = graph.nodes[static_cast<std::size_t>(gradient.producer)];
  if (maker.op != &ops::embedding_grad) return;
  maker.settings.set("touched", true);
  filled.rows = maker.inputs[1];
  filled.row_width = gradient.type.shape[1];
}

class Closing {
 public:
  Closing(Graph& graph, const StepClosing& closing, DType dtype)
      : graph_(graph), order_(graph), closing_(closing), dtype_(dtype) {}

  // Whether the gradient was multiplied from gathered factors: this rank's part of it, complete.
  bool is_own_part(const Filled& filled) const {
    return closing_.sharded() && filled.block.factored && filled.gradients.size() == 1 &&
           elements(graph_.shape(filled.gradients[0])) < filled.block.count();
  }

  // The gradients to update with, block by block. Their nodes stand where the gradients are made.
  std::vector<ValueId> gather(const std::vector<Filled>& blocks) {
    std::vector<ValueId> gradients = closing_.shards_gradients() ? scatter(blocks) : sum(blocks);
    order_.apply();
    return gradients;
  }

  // What was rounded to travel becomes a block of g again, where that is first needed.
  void widen(const Block& block, ValueId& gradient) {
    if (graph_.type(gradient).dtype == dtype_) return;
    gradient = cast(block, gradient, dtype_);
    graph_.value(gradient).place = own_place(Base::gradients, block);
  }

  // √Σ g² over all blocks. Each rank adds the squares of the parts that it owns, or would own: of
  // `owned`, which lie inside `blocks`. So the bits are the same whoever updates.
  ValueId norm(const std::vector<Filled>& blocks, std::vector<ValueId>& gradients,
               const std::vector<Block>& owned) {
    for (std::size_t k = 0; k < blocks.size(); ++k) widen(blocks[k].block, gradients[k]);
    std::vector<ValueId> in;
    std::vector<std::int64_t> firsts, counts;
    std::vector<BoundSetting> bound;
    std::map<std::int64_t, std::size_t> by_end;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      if (blocks[k].block.count() > 0) by_end.emplace(blocks[k].block.end, k);
    for (const Block& part : owned) {
      const auto found = by_end.upper_bound(part.offset);
      if (found == by_end.end() || part.offset < blocks[found->second].block.offset) continue;
      const std::int64_t offset = blocks[found->second].block.offset;
      const int element = static_cast<int>(in.size());
      if (!closing_.sharded()) bound.push_back({"firsts", part.slot, 1, element});
      bound.push_back({"counts", part.slot + 1, 1, element});
      in.push_back(gradients[found->second]);
      firsts.push_back(closing_.sharded() ? 0 : part.offset + part.own.begin - offset);
      counts.push_back(part.own.count());
    }
    ValueId sum = graph_.add1(ops::square_sum, in, {{"firsts", firsts}, {"counts", counts}});
    graph_.nodes.back().bound = std::move(bound);
    if (!graph_.partial.empty())
      sum = graph_.add1(ops::allreduce, {sum}, {{"axes", graph_.partial[0].axes}});
    return graph_.add1(ops::gradient_norm, {sum}, {{"dtype", std::string(name_of(dtype_))}});
  }

  // Σ w² and Σ d² of the range that block k belongs to, over all its pieces and owners; no_value
  // where the rule asks for none.
  ValueId squares(const std::vector<Filled>& blocks, std::vector<ValueId>& gradients, std::size_t k,
                  ValueId norm) {
    const std::int64_t range = blocks[k].block.measured;
    if (range < 0) return no_value;
    if (const auto found = squares_.find(range); found != squares_.end()) return found->second;
    if (pieces_.empty())
      for (std::size_t i = 0; i < blocks.size(); ++i)
        pieces_[blocks[i].block.measured].push_back(i);
    ValueId sum = no_value;
    for (const std::size_t i : pieces_.at(range)) {
      const Block& piece = blocks[i].block;
      widen(piece, gradients[i]);
      std::vector<ValueId> in = blocks_in(piece, gradients[i]);
      if (norm != no_value) in.push_back(norm);
      const ValueId own = graph_.add1(ops::measure, in, update_settings(piece));
      sum = sum == no_value ? own : graph_.add1(ops::add, {sum, own});
    }
    if (closing_.sharded())
      sum = graph_.add1(ops::allreduce, {sum}, {{"axes", blocks[k].block.axis}});
    return squares_[range] = sum;
  }

  void update(const Filled& filled, ValueId g, ValueId squares, ValueId norm,
              std::int64_t result_offset) {
    const Block& block = filled.block;
    std::vector<ValueId> in = blocks_in(block, g);
    Settings settings = update_settings(block);
    settings.set("measured", squares != no_value);
    if (squares != no_value) in.push_back(squares);
    if (norm != no_value) in.push_back(norm);
    settings.set("row_width", filled.row_width);
    if (filled.rows != no_value) in.push_back(filled.rows);
    const std::vector<ValueId> out = graph_.add(ops::update, in, settings);
    graph_.nodes.back().name = block.name();
    for (std::size_t k = 0; k + 1 < out.size(); ++k)
      graph_.value(out[k]).place = graph_.value(in[k + 1]).place;
    graph_.value(out.back()).place = {Base::results, result_offset};
    graph_.value(out.back()).name = "square sum";
    graph_.results.push_back(out.back());
    if (closing_.sharded() && !closing_.shards_weights()) allgather(block, out[0]);
  }

  // Each rank has the squares of its own parts: their sums over ranks take their place.
  void sum_squares(std::size_t blocks, std::int64_t results_offset) {
    const std::vector<ValueId> sums(graph_.results.end() - static_cast<std::ptrdiff_t>(blocks),
                                    graph_.results.end());
    const ValueId all = graph_.add1(ops::reduce, sums,
                                    {{"axes", graph_.partial[0].axes},
                                     {"offset", std::int64_t{0}},
                                     {"count", static_cast<std::int64_t>(blocks)},
                                     {"dtype", std::string("f64")}});
    graph_.value(all).place = {Base::results, results_offset};
  }

 private:
  Place at(int base, std::int64_t element) const { return {base, element * bytes_of(dtype_)}; }
  static Place at_rounded(std::int64_t element) {
    return {Base::rounded, element * bytes_of(DType::bf16)};
  }

  ValueId cast(const Block& block, ValueId x, DType to) {
    const ValueId y = graph_.add1(ops::cast, {x}, {{"to", std::string(name_of(to))}});
    graph_.nodes.back().name = block.name();
    return y;
  }

  // Of this rank's part of a block, in a vector that holds whole ones and in one that holds parts.
  Place own_place(int base, const Block& block) const {
    return {base, (block.offset + block.own.begin) * bytes_of(dtype_), block.slot};
  }
  Place state_place(int base, const Block& block) const {
    return {base, block.state_offset * bytes_of(dtype_),
            block.slot == no_slot ? no_slot : block.slot + 2};
  }
  ValueId own_part(const char* name, const Block& block, Place place) {
    const ValueId part = graph_.add_value(name, {dtype_, {block.own.count()}}, place);
    if (block.slot != no_slot) graph_.value(part).length_slot = block.slot + 1;
    return part;
  }

  // Gradient, weights and states of what this rank updates.
  std::vector<ValueId> blocks_in(const Block& block, ValueId g) {
    std::vector<ValueId> in = {
        g, own_part("w", block,
                    closing_.shards_weights() ? state_place(Base::weights, block)
                                              : own_place(Base::weights, block))};
    for (int k = 0; k < closing_.rule->states; ++k)
      in.push_back(own_part("state", block, state_place(Base::optimizer + k, block)));
    return in;
  }

  Settings update_settings(const Block& block) const {
    return {{"rule", closing_.rule->name},
            {"hyper", rule_numbers(*closing_.rule, closing_.rule_settings)},
            {"rate_multiplier", block.rate},
            {"weight_decay", block.weight_decay},
            {"clip_value", closing_.clip_value},
            {"clip_norm", closing_.clip_norm},
            {"guarded", closing_.guarded}};
  }

  // Blocks are handled from the last filled to the first, so that what one node fills together
  // travels in the order of the flat vectors.
  std::vector<ValueId> sum(const std::vector<Filled>& blocks) {
    std::vector<ValueId> gradients(blocks.size());
    for (std::size_t k = blocks.size(); k-- > 0;) gradients[k] = collect(blocks[k]);
    if (!closing_.sharded() && !closing_.rounds()) return gradients;
    for (std::size_t k = blocks.size(); k-- > 0;) {
      if (is_own_part(blocks[k])) continue;
      gradients[k] = closing_.sharded() ? reduce_scatter(blocks[k].block, gradients[k])
                                        : allreduce_rounded(blocks[k].block, gradients[k]);
    }
    return gradients;
  }

  // The block of g that the gradients fill, right behind the node that does so last; summed over
  // ranks where it is partial, updated as a whole and not rounded.
  ValueId collect(const Filled& filled) {
    const Block& block = filled.block;
    const Part part = is_own_part(filled) ? block.own : Part{0, block.count()};
    Settings settings{{"offset", block.offset + part.begin},
                      {"count", part.count()},
                      {"dtype", std::string(name_of(dtype_))}};
    const bool reduces = !block.axis.empty() && !closing_.sharded() && !closing_.rounds();
    if (reduces) settings.set("axes", block.axis);
    const ValueId all = graph_.add1(reduces ? ops::reduce : ops::join, filled.gradients, settings);
    graph_.nodes.back().name = block.name();
    graph_.value(all).place = at(Base::gradients, block.offset + part.begin);
    if (is_own_part(filled)) {
      graph_.value(all).place = own_place(Base::gradients, block);
      graph_.nodes.back().bound = {{"offset", block.slot}, {"count", block.slot + 1}};
    }
    order_.insert_behind(filled.last);
    return all;
  }

  // The gradients are made in the arena; what stays of them is this rank's part of their sum. It is
  // fetched when the exchange of what is filled next has begun, so that one travels while the
  // other is computed. From the last filled to the first, as above.
  std::vector<ValueId> scatter(const std::vector<Filled>& blocks) {
    std::vector<ValueId> gradients(blocks.size());
    ValueId next = no_value;  // its exchange begins after this one
    for (std::size_t end = blocks.size(); end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && blocks[begin - 1].block.whole_offset == blocks[begin].block.whole_offset)
        --begin;
      const ValueId whole = join_in_arena(blocks[begin]);
      std::vector<ValueId> parts;
      for (std::size_t k = begin; k < end; ++k)
        parts.push_back(scatter_section(blocks[k].block, whole, parts));
      for (std::size_t k = end; k-- > begin;) {
        gradients[k] = closing_.rounds() ? cast(blocks[k].block, parts[k - begin], dtype_)
                                         : graph_.add1(ops::copy, {parts[k - begin]});
        graph_.value(gradients[k]).place = state_place(Base::gradients, blocks[k].block);
        if (next != no_value) order_.insert_behind(graph_.value(next).producer);
      }
      next = parts.back();
      end = begin;
    }
    return gradients;
  }

  // What the gradients fill, with zeros between them.
  ValueId join_in_arena(const Filled& filled) {
    const Block& block = filled.block;
    std::vector<ValueId> in = filled.gradients;
    std::sort(in.begin(), in.end(), [&](ValueId a, ValueId b) {
      return graph_.value(a).place.offset_bytes < graph_.value(b).place.offset_bytes;
    });
    std::vector<std::int64_t> firsts;
    std::vector<ValueId> all;
    std::int64_t end = 0;
    NodeId last = filled.last;
    const auto zeros_up_to = [&](std::int64_t first) {
      if (first == end) return;
      all.push_back(graph_.add1(ops::constant, {},
                                {{"shape", Shape{first - end}},
                                 {"value", 0.0},
                                 {"dtype", std::string(name_of(dtype_))}}));
      firsts.push_back(end);
      last = order_.insert_behind(last);
    };
    for (const ValueId id : in) {
      Value& gradient = graph_.value(id);
      const std::int64_t first =
          gradient.place.offset_bytes / bytes_of(dtype_) - block.whole_offset;
      gradient.place = {};
      const std::int64_t count = elements(gradient.type.shape);
      zeros_up_to(first);
      all.push_back(id);
      firsts.push_back(first);
      end = first + count;
    }
    zeros_up_to(block.whole_count());
    const ValueId whole = graph_.add1(ops::join, all,
                                      {{"offset", block.whole_offset},
                                       {"count", block.whole_count()},
                                       {"dtype", std::string(name_of(dtype_))},
                                       {"firsts", firsts}});
    order_.insert_behind(last);
    return whole;
  }

  // Begins the exchange of a block of `whole`, behind that of the blocks before it.
  ValueId scatter_section(const Block& block, ValueId whole, const std::vector<ValueId>& before) {
    NodeId behind = graph_.value(before.empty() ? whole : before.back()).producer;
    ValueId section = graph_.add1(
        ops::section, {whole},
        {{"offset", block.offset - block.whole_offset}, {"shape", Shape{block.count()}}});
    behind = order_.insert_behind(behind);
    if (closing_.rounds()) {
      section = cast(block, section, DType::bf16);
      behind = order_.insert_behind(behind);
    }
    const ValueId part = scattered(block, section);
    order_.insert_behind(behind);
    return part;
  }

  // This rank's part of a block, summed.
  ValueId scattered(const Block& block, ValueId all) {
    const ValueId part = graph_.add1(ops::reduce_scatter, {all},
                                     {{"axes", block.axis},
                                      {"part_offset", block.own.begin},
                                      {"part_count", block.own.count()}});
    graph_.nodes.back().name = block.name();
    graph_.nodes.back().bound = {{"part_offset", block.slot}, {"part_count", block.slot + 1}};
    graph_.value(part).place.slot = block.slot;  // it lies in what was summed
    return part;
  }

  // Behind the joins of all blocks that one node fills: they read what this overwrites.
  ValueId reduce_scatter(const Block& block, ValueId all) {
    NodeId behind = graph_.value(all).producer;
    for (NodeId next = order_.next(behind); is_join(next); next = order_.next(next)) behind = next;
    const std::int64_t first = block.offset + block.own.begin;
    ValueId sent = all;
    if (closing_.rounds()) {
      sent = round(block, all, behind);
      behind = graph_.value(sent).producer;
    }
    const ValueId part = scattered(block, sent);
    graph_.value(part).place = own_place(Base::gradients, block);
    if (closing_.rounds())
      graph_.value(part).place = {Base::rounded, first * bytes_of(DType::bf16), block.slot};
    order_.insert_behind(behind);
    return part;
  }

  bool is_join(NodeId node) const {
    return node != no_node && graph_.nodes[static_cast<std::size_t>(node)].op == &ops::join;
  }

  // A copy of the block in bf16, behind `node`.
  ValueId round(const Block& block, ValueId all, NodeId node) {
    const ValueId rounded = cast(block, all, DType::bf16);
    graph_.value(rounded).place = at_rounded(block.offset);
    order_.insert_behind(node);
    return rounded;
  }

  // What is complete on this rank is rounded all the same: bits don't depend on who updates.
  ValueId allreduce_rounded(const Block& block, ValueId all) {
    const ValueId rounded = round(block, all, graph_.value(all).producer);
    if (block.axis.empty()) return rounded;
    const ValueId sum = graph_.add1(ops::allreduce, {rounded}, {{"axes", block.axis}});
    graph_.nodes.back().name = block.name();
    graph_.value(sum).place = at_rounded(block.offset);
    order_.insert_behind(graph_.value(rounded).producer);
    return sum;
  }

  void allgather(const Block& block, ValueId part) {
    const ValueId all = graph_.add1(
        ops::allgather, {part},
        {{"axes", block.axis}, {"part_offset", block.own.begin}, {"count", block.count()}});
    graph_.nodes.back().name = block.name();
    graph_.nodes.back().bound = {{"part_offset", block.slot}};
    graph_.value(all).place = at(Base::weights, block.offset);
  }

  Graph& graph_;
  NodeOrder order_;
  const StepClosing& closing_;
  DType dtype_;
  std::map<std::int64_t, ValueId> squares_;                  // by the range's offset
  std::map<std::int64_t, std::vector<std::size_t>> pieces_;  // of each range: its blocks
};

}  // namespace

void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes) {
  check(graph.partial.empty() || closing.ranks > 1, "whoever sums over ranks knows how many");
  AxisOf axis = [axes = partial_axes(graph)](const Range& range) {
    const auto found = axes.find(range.offset);
    return found == axes.end() ? std::string() : found->second;
  };
  if (closing.sharded())
    axis = [common = sum_over_one_axis(graph, table, closing)](const Range&) { return common; };
  std::vector<Filled> blocks = filled_blocks(graph, blocks_of(table, dtype, closing, axis));
  for (Filled& one : blocks) touch_rows(graph, one);
  Closing step(graph, closing, dtype);
  std::vector<ValueId> gradients = step.gather(blocks);
  if (closing.common_weights) graph.add(ops::barrier, {}, {{"axes", graph.partial[0].axes}});
  ValueId norm = no_value;
  if (closing.clip_norm > 0 || closing.guarded) {
    StepClosing owning = closing;
    owning.shard = true;
    norm = step.norm(blocks, gradients, blocks_of(table, dtype, owning, axis));
  }
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    step.widen(blocks[k].block, gradients[k]);
    step.update(blocks[k], gradients[k], step.squares(blocks, gradients, k, norm), norm,
                results_offset_bytes + 8 * static_cast<std::int64_t>(k));
  }
  if (closing.sharded()) step.sum_squares(blocks.size(), results_offset_bytes);
}

std::int64_t square_sums_of(const RangeTable& table, DType dtype, const StepClosing& closing) {
  // At most: ranges on different axes are never merged.
  StepClosing apart = closing;
  if (!closing.sharded()) apart.block_bytes = 0;
  return static_cast<std::int64_t>(
      blocks_of(table, dtype, apart, [](const Range&) { return ""; }).size());
}

}  // namespace tutti
