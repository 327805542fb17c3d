// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/block_nodes.h"

#include "tutti/graph/op.h"
#include "tutti/ops/allreduce_block.h"
#include "tutti/ops/embedding.h"
#include "tutti/ops/join.h"
#include "tutti/ops/reduce_scatter.h"

#include <algorithm>

namespace tutti {
namespace {

// Where one embedding alone makes the gradient of a table, it writes only the rows that the batch
// touches, and the update reads only these.
void touch_rows(Graph& graph, FilledBlock& filled) {
  if (!filled.block.sparse || filled.gradients.size() != 1) return;
  const Value& gradient = graph.value(filled.gradients[0]);
  Node& maker = graph.nodes[static_cast<std::size_t>(gradient.producer)];
  if (maker.op != &ops::embedding_grad) return;
  maker.settings.set("touched", true);
  filled.rows = maker.inputs[1];
  filled.row_width = gradient.type.shape[1];
}

}  // namespace

std::vector<FilledBlock> filled_blocks(Graph& graph, const std::vector<Block>& blocks) {
  std::vector<FilledBlock> filled(blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) filled[k].block = blocks[k];
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.place.base != Base::gradients || value.producer == no_node) continue;
    const std::int64_t offset = value.place.offset_bytes / bytes_of(value.type.dtype);
    const std::int64_t end = offset + elements(value.type.shape);
    auto one = std::partition_point(filled.begin(), filled.end(),
                                    [&](const FilledBlock& f) { return f.block.end <= offset; });
    for (; one != filled.end() && one->block.offset < end; ++one) {
      one->gradients.push_back(static_cast<ValueId>(id));
      one->last = std::max(one->last, value.producer);
    }
  }
  std::stable_sort(filled.begin(), filled.end(),
                   [](const FilledBlock& a, const FilledBlock& b) { return a.last < b.last; });
  for (FilledBlock& one : filled) touch_rows(graph, one);
  return filled;
}

bool BlockNodes::is_own_part(const FilledBlock& filled) const {
  return closing_.sharded() && filled.block.factored && filled.gradients.size() == 1 &&
         elements(graph_.shape(filled.gradients[0])) < filled.block.count();
}

ValueId BlockNodes::named(const Block& block, ValueId made) {
  graph_.nodes[static_cast<std::size_t>(graph_.value(made).producer)].name = block.name();
  return made;
}

ValueId BlockNodes::joined(const FilledBlock& filled, const std::string& axes) {
  const Block& block = filled.block;
  const Part part = is_own_part(filled) ? block.own : Part{0, block.count()};
  Settings settings{{"offset", block.offset + part.begin},
                    {"count", part.count()},
                    {"dtype", std::string(name_of(dtype_))}};
  if (!axes.empty()) settings.set("axes", axes);
  const ValueId all = named(block, graph_.add1(axes.empty() ? ops::join : ops::allreduce_block,
                                               filled.gradients, settings));
  graph_.value(all).place = at(Base::gradients, block.offset + part.begin);
  if (is_own_part(filled)) {
    graph_.value(all).place = own_place(Base::gradients, block);
    graph_.nodes.back().bound = {{"offset", block.slot}, {"count", block.slot + 1}};
  }
  order_.insert_behind(filled.last);
  return all;
}

void BlockNodes::finish_filling(FilledBlock& filled) {
  const ValueId all = named(filled.block, graph_.nodes.back().outputs[0]);
  graph_.value(all).place = at(Base::gradients, filled.block.offset);
  filled.gradients = {all};
  filled.last = order_.insert_behind(graph_.value(graph_.nodes.back().inputs[0]).producer);
}

ValueId BlockNodes::encoded(const Block& block, ValueId plain, NodeId behind) {
  const Scheme& scheme = closing_.scheme;
  const ValueId made = named(block, scheme.codec.encode(graph_, scheme.codec_settings, plain));
  if (closing_.keeps_encoded()) graph_.value(made).place = encoded_place(block.offset);
  order_.insert_behind(behind);
  return made;
}

void BlockNodes::decode(const Block& block, ValueId& gradient) {
  if (graph_.type(gradient).dtype == dtype_) return;
  const Scheme& scheme = closing_.scheme;
  gradient = named(block, scheme.codec.decode(graph_, scheme.codec_settings, gradient, dtype_));
  graph_.value(gradient).place = own_place(Base::gradients, block);
}

Place BlockNodes::encoded_place(std::int64_t first) const {
  return {Base::encoded, first * bytes_of(closing_.scheme.codec.dtype)};
}

ValueId BlockNodes::reduce_scattered(const Block& block, ValueId all) {
  const ValueId part = named(block, graph_.add1(ops::reduce_scatter, {all},
                                                {{"axes", block.axis},
                                                 {"part_offset", block.own.begin},
                                                 {"part_count", block.own.count()}}));
  graph_.nodes.back().bound = {{"part_offset", block.slot}, {"part_count", block.slot + 1}};
  graph_.value(part).place.slot = block.slot;  // the part lies inside the block
  return part;
}

Place BlockNodes::own_place(int base, const Block& block) const {
  return {base, (block.offset + block.own.begin) * bytes_of(dtype_), block.slot};
}

Place BlockNodes::state_place(int base, const Block& block) const {
  return {base, block.state_offset * bytes_of(dtype_),
          block.slot == no_slot ? no_slot : block.slot + 2};
}

ValueId BlockNodes::own_part(const char* name, const Block& block, Place place) {
  const ValueId part = graph_.add_value(name, {dtype_, {block.own.count()}}, place);
  if (block.slot != no_slot) graph_.value(part).length_slot = block.slot + 1;
  return part;
}

ValueId BlockNodes::whole_block(const char* name, const Block& block, int base) {
  return graph_.add_value(name, {dtype_, {block.count()}}, at(base, block.offset));
}

}  // namespace tutti
