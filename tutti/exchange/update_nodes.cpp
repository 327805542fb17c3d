// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/update_nodes.h"

#include "tutti/exchange/guard.h"
#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/allreduce_block.h"
#include "tutti/ops/gradient_norm.h"
#include "tutti/ops/square_sum.h"
#include "tutti/ops/update.h"

#include <utility>

namespace tutti {

Settings update_settings(const Updating& update, const Block& block) {
  return {{"rule", update.rule->name},
          {"hyper", rule_numbers(*update.rule, update.rule_settings)},
          {"rate_multiplier", block.rate},
          {"weight_decay", block.weight_decay},
          {"clip_value", update.clip_value},
          {"clip_norm", update.clip_norm},
          {"guarded", update.guarded}};
}

void UpdateNodes::add_norm(const std::vector<Block>& owned) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) nodes_.decode(blocks_[k].block, gradients_[k]);
  std::vector<ValueId> in;
  std::vector<std::int64_t> firsts, counts;
  std::vector<BoundSetting> bound;
  std::map<std::int64_t, std::size_t> by_end;
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    if (blocks_[k].block.count() > 0) by_end.emplace(blocks_[k].block.end, k);
  for (const Block& part : owned) {
    const auto found = by_end.upper_bound(part.offset);
    if (found == by_end.end() || part.offset < blocks_[found->second].block.offset) continue;
    const std::int64_t offset = blocks_[found->second].block.offset;
    const int element = static_cast<int>(in.size());
    if (!closing().sharded()) bound.push_back({"firsts", part.slot, 1, element});
    bound.push_back({"counts", part.slot + 1, 1, element});
    in.push_back(gradients_[found->second]);
    firsts.push_back(closing().sharded() ? 0 : part.offset + part.own.begin - offset);
    counts.push_back(part.own.count());
  }
  ValueId sum = graph().add1(ops::square_sum, in, {{"firsts", firsts}, {"counts", counts}});
  graph().nodes.back().bound = std::move(bound);
  if (!graph().partial.empty())
    sum = graph().add1(ops::allreduce, {sum}, {{"axes", graph().partial[0].axes}});
  norm_ =
      graph().add1(ops::gradient_norm, {sum}, {{"dtype", std::string(name_of(nodes_.dtype()))}});
  if (!closing().update.guarded) guard_by(graph(), {norm_});
}

// Σ w² and Σ d² of the range that block k belongs to, over all its blocks and ranks; no_value where
// the rule asks for none.
ValueId UpdateNodes::squares_of(std::size_t k) {
  const std::int64_t range = blocks_[k].block.measured;
  if (range < 0) return no_value;
  if (const auto found = squares_.find(range); found != squares_.end()) return found->second;
  if (pieces_.empty())
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      pieces_[blocks_[i].block.measured].push_back(i);
  ValueId sum = no_value;
  for (const std::size_t i : pieces_.at(range)) {
    const Block& piece = blocks_[i].block;
    nodes_.decode(piece, gradients_[i]);
    std::vector<ValueId> in = inputs_of(piece, gradients_[i]);
    if (norm_ != no_value) in.push_back(norm_);
    const ValueId own = graph().add1(ops::measure, in, update_settings(closing().update, piece));
    sum = sum == no_value ? own : graph().add1(ops::add, {sum, own});
  }
  if (closing().sharded())
    sum = graph().add1(ops::allreduce, {sum}, {{"axes", blocks_[k].block.axis}});
  return squares_[range] = sum;
}

void UpdateNodes::add_update(std::size_t k, std::int64_t result_offset) {
  const FilledBlock& filled = blocks_[k];
  const Block& block = filled.block;
  nodes_.decode(block, gradients_[k]);
  const ValueId squares = squares_of(k);
  std::vector<ValueId> in = inputs_of(block, gradients_[k]);
  Settings settings = update_settings(closing().update, block);
  settings.set("measured", squares != no_value);
  if (squares != no_value) in.push_back(squares);
  if (norm_ != no_value) in.push_back(norm_);
  settings.set("row_width", filled.row_width);
  if (filled.rows != no_value) in.push_back(filled.rows);
  const ValueId word = bad_step_of(graph());
  settings.set("sticky", word != no_value);
  if (word != no_value) in.push_back(word);
  const std::vector<ValueId> out = graph().add(ops::update, in, settings);
  nodes_.named(block, out[0]);
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    graph().value(out[i]).place = graph().value(in[i + 1]).place;
  graph().value(out.back()).place = {Base::results, result_offset};
  graph().value(out.back()).name = "square sum";
  graph().results.push_back(out.back());
  const auto publish = closing().scheme.store.publish;
  if (closing().ranks > 1 && publish != nullptr) publish(nodes_, block, out[0]);
}

void UpdateNodes::add_guard(std::int64_t results_offset) {
  const auto count = static_cast<std::ptrdiff_t>(blocks_.size());
  std::vector<ValueId> squares(graph().results.end() - count, graph().results.end());
  if (closing().sharded()) squares = {summed(squares, results_offset)};
  if (norm_ == no_value && !squares.empty()) guard_by(graph(), squares);
}

// Replaces the squares of this rank's own parts by their sums over ranks, in the same place.
ValueId UpdateNodes::summed(const std::vector<ValueId>& squares, std::int64_t results_offset) {
  const ValueId all = graph().add1(ops::allreduce_block, squares,
                                   {{"axes", graph().partial[0].axes},
                                    {"offset", std::int64_t{0}},
                                    {"count", static_cast<std::int64_t>(squares.size())},
                                    {"dtype", std::string("f64")}});
  graph().value(all).place = {Base::results, results_offset};
  return all;
}

// Gradient, weights and states of the part of a block that this rank updates.
std::vector<ValueId> UpdateNodes::inputs_of(const Block& block, ValueId g) {
  std::vector<ValueId> in = {
      g, nodes_.own_part("w", block,
                         closing().shards_weights() ? nodes_.state_place(Base::weights, block)
                                                    : nodes_.own_place(Base::weights, block))};
  for (int k = 0; k < closing().update.rule->states; ++k)
    in.push_back(nodes_.own_part("state", block, nodes_.state_place(Base::optimizer + k, block)));
  return in;
}

}  // namespace tutti
