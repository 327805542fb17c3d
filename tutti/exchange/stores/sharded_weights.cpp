// SPDX-License-Identifier: Apache-2.0
// Each rank keeps only its own parts of weights, gradients and state: weights are gathered before
// they are used (gather_weights.h), and of a gradient only the rank's part of the sum stays.
#include "tutti/exchange/stores/gather_weights.h"
#include "tutti/exchange/stores/sharded.h"
#include "tutti/exchange/stores/store.h"
#include "tutti/graph/op.h"
#include "tutti/ops/constant.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/join.h"
#include "tutti/ops/section.h"

#include <algorithm>

namespace tutti {
namespace {

// The gradient of merged ranges before they are cut to blocks, put together in the arena, with
// zeros where no gradient is made.
class WholeGradient {
 public:
  WholeGradient(BlockNodes& nodes, const FilledBlock& filled)
      : nodes_(nodes), block_(filled.block), last_(filled.last) {}

  void add(ValueId id) {
    Value& gradient = nodes_.graph().value(id);
    const std::int64_t first =
        gradient.place.offset_bytes / bytes_of(nodes_.dtype()) - block_.whole_offset;
    gradient.place = {};
    const std::int64_t count = elements(gradient.type.shape);
    zeros_up_to(first);
    put(id, first);
    end_ = first + count;
  }

  ValueId join() {
    zeros_up_to(block_.whole_count());
    const ValueId whole = nodes_.graph().add1(ops::join, parts_,
                                              {{"offset", block_.whole_offset},
                                               {"count", block_.whole_count()},
                                               {"dtype", std::string(name_of(nodes_.dtype()))},
                                               {"firsts", firsts_}});
    nodes_.order().insert_behind(last_);
    return whole;
  }

 private:
  void put(ValueId id, std::int64_t first) {
    parts_.push_back(id);
    firsts_.push_back(first);
  }

  void zeros_up_to(std::int64_t first) {
    if (first == end_) return;
    put(nodes_.graph().add1(ops::constant, {},
                            {{"shape", Shape{first - end_}},
                             {"value", 0.0},
                             {"dtype", std::string(name_of(nodes_.dtype()))}}),
        end_);
    last_ = nodes_.order().insert_behind(last_);
  }

  BlockNodes& nodes_;
  const Block& block_;
  NodeId last_;
  std::int64_t end_ = 0;
  std::vector<ValueId> parts_;
  std::vector<std::int64_t> firsts_;
};

ValueId join_in_arena(BlockNodes& nodes, const FilledBlock& filled) {
  std::vector<ValueId> in = filled.gradients;
  std::sort(in.begin(), in.end(), [&](ValueId a, ValueId b) {
    return nodes.graph().value(a).place.offset_bytes < nodes.graph().value(b).place.offset_bytes;
  });
  WholeGradient whole(nodes, filled);
  for (const ValueId id : in) whole.add(id);
  return whole.join();
}

// Begins the exchange of a block of `whole`, behind that of the blocks before it.
ValueId scatter_section(BlockNodes& nodes, const Block& block, ValueId whole,
                        const std::vector<ValueId>& before) {
  Graph& graph = nodes.graph();
  NodeId behind = graph.value(before.empty() ? whole : before.back()).producer;
  ValueId section =
      graph.add1(ops::section, {whole},
                 {{"offset", block.offset - block.whole_offset}, {"shape", Shape{block.count()}}});
  behind = nodes.order().insert_behind(behind);
  if (nodes.closing().encodes()) {
    section = nodes.encoded(block, section, behind);
    behind = graph.value(section).producer;
  }
  const ValueId part = nodes.reduce_scattered(block, section);
  nodes.order().insert_behind(behind);
  return part;
}

// A rank waits for its parts of a gradient when the exchange of the next gradient has begun, so
// that one travels while the other is computed. Blocks are handled from the last filled to the
// first, as in other stores.
std::vector<ValueId> scatter(BlockNodes& nodes, const std::vector<FilledBlock>& blocks) {
  Graph& graph = nodes.graph();
  std::vector<ValueId> gradients(blocks.size());
  ValueId next = no_value;  // the last part of the gradient that is filled next
  for (std::size_t end = blocks.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && blocks[begin - 1].block.whole_offset == blocks[begin].block.whole_offset)
      --begin;
    const ValueId whole = join_in_arena(nodes, blocks[begin]);
    std::vector<ValueId> parts;
    for (std::size_t k = begin; k < end; ++k)
      parts.push_back(scatter_section(nodes, blocks[k].block, whole, parts));
    for (std::size_t k = end; k-- > begin;) {
      gradients[k] = parts[k - begin];
      if (nodes.closing().encodes())
        nodes.decode(blocks[k].block, gradients[k]);
      else
        gradients[k] = graph.add1(ops::copy, {gradients[k]});
      graph.value(gradients[k]).place = nodes.state_place(Base::gradients, blocks[k].block);
      if (next != no_value) nodes.order().insert_behind(graph.value(next).producer);
    }
    next = parts.back();
    end = begin;
  }
  return gradients;
}

}  // namespace

extern const Store sharded_weights_store;

const Store sharded_weights_store{
    .name = "sharded_weights",
    .doc =
        "as sharded, and a rank keeps no more than its parts of weights and gradients either: "
        "it gathers weights before they are used",
    .owns_parts = true,
    .keeps_parts = true,
    .collect =
        [](BlockNodes& nodes, const std::vector<FilledBlock>& blocks) {
          return nodes.closing().shards_gradients() ? scatter(nodes, blocks)
                                                    : collect_parts(nodes, blocks);
        },
    .fetch = gather_weights,
};

}  // namespace tutti
