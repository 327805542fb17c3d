// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/vectors.h"

#include "tutti/compile/streams.h"
#include "tutti/graph/carried.h"

#include <algorithm>

namespace tutti {
namespace {

// Whether the ranks of a process can have one copy of the weights, of which each rank updates its
// own part when all ranks have read the old weights.
bool can_have_weights_in_common(const StepSpec& spec, const StepClosing& closing) {
  const std::string& allgather = spec.messages.allgather;
  return spec.facts.shared_memory && closing.meets() && closing.sharded() &&
         !closing.shards_weights() && !spec.messages.across_steps.value_or(false) &&
         (allgather == "auto" || allgather == "direct");
}

int states_of_rule(const StepClosing& closing) {
  return closing.update.rule == nullptr ? 0 : closing.update.rule->states;
}

using LayoutOf = VectorLayout (*)(const RangeTable&, DType, const StepClosing&);

// A vector with the table of the parameters. `layout_of` says which parts of it a rank holds.
FlatVector cut_vector(const VectorPlan& plan, const char* name, int base, DType dtype, bool sharded,
                      LayoutOf layout_of) {
  const auto of_rank = [table = plan.table(), of_weights = plan.net.dtype, closing = plan.closing,
                        layout_of](int rank) {
    StepClosing theirs = closing;
    theirs.rank = rank;
    return layout_of(table, of_weights, theirs);
  };
  return {.name = name,
          .base = base,
          .dtype = dtype,
          .spread = sharded ? FlatVector::sharded : FlatVector::replicated,
          .whole_count = plan.table().count(),
          .layout = of_rank(plan.closing.rank),
          .layout_of = of_rank};
}

// The flat vectors of rank plan.closing.rank.
std::vector<FlatVector> vectors_of(const VectorPlan& plan) {
  const StepClosing& closing = plan.closing;
  const DType dtype = plan.net.dtype;
  std::vector<FlatVector> list;
  list.push_back(
      cut_vector(plan, "weights", Base::weights, dtype, closing.shards_weights(), weight_layout));
  list.back().common = closing.common_weights;
  list.push_back(cut_vector(plan, "gradients", Base::gradients, dtype, closing.shards_gradients(),
                            gradient_layout));
  if (closing.keeps_encoded())
    list.push_back(cut_vector(plan, "encoded gradients", Base::encoded, closing.scheme.codec.dtype,
                              closing.shards_gradients(), gradient_layout));
  const std::int64_t state_count = plan.layer_state_table().count();
  list.push_back({.name = "layer state",
                  .base = Base::layer_state,
                  .dtype = dtype,
                  .spread = plan.state_per_rank ? FlatVector::per_rank : FlatVector::replicated,
                  .whole_count = state_count,
                  .layout = {{{0, state_count, 0}}, state_count}});
  if (!plan.net.graph.carried.empty())
    list.push_back(
        carried_vector(carried_table(plan.net.graph), dtype, closing.rank, closing.ranks));
  const int of_rule = states_of_rule(closing);
  for (int k = 0; k < of_rule; ++k)
    list.push_back(cut_vector(plan, "optimizer state", Base::optimizer + k, dtype,
                              closing.owns_parts(), state_layout));
  const std::int64_t count = plan.table().count();
  if (!closing.meets())
    list.push_back(
        cut_vector(plan, "weights of the store", plan.store_base(), dtype, true, state_layout));
  const LocalRule& local = closing.update.local;
  for (int k = 0; k < local.saved + local.unsaved; ++k)
    list.push_back({.name = "vector of " + local.name,
                    .base = Base::optimizer + of_rule + k,
                    .dtype = dtype,
                    .whole_count = count,
                    .layout = {{{0, count, 0}}, count}});
  return list;
}

}  // namespace

std::int64_t VectorPlan::bytes(int base) const {
  for (const FlatVector& vector : list)
    if (vector.base == base) return vector.bytes();
  return 0;
}

VectorPlan plan_vectors(const StepSpec& spec) {
  NetInput input = spec.input;
  input.batch = std::max<std::int64_t>(spec.batch, 1);
  VectorPlan plan{.net = spec.build(input), .closing = spec.closing};
  StepClosing& closing = plan.closing;
  closing.rank = spec.facts.rank, closing.ranks = spec.facts.size;
  const DType dtype = spec.input.dtype;
  // Ranks that do not meet normalise by their own samples.
  const bool own_state =
      plan.net.state_per_rank || (!closing.meets() && plan.layer_state_table().count() > 0);
  plan.state_per_rank = own_state && closing.ranks > 1;
  if (closing.ranks > 1 && closing.meets()) {
    plan.factors = std::make_shared<FactorChoice>(
        closing.scheme.payload, ExchangeTimes{.facts = spec.facts,
                                              .allgather = spec.messages.allgather,
                                              .reduce_scatter = spec.messages.reduce_scatter,
                                              .allreduce = spec.messages.allreduce,
                                              .sharded = closing.sharded(),
                                              .fixed_order = spec.messages.fixed_order});
    plan.factored = plan.factors->among(plan.net.graph, plan.table(), dtype, closing, spec.batch);
  }
  for (const LinearRange& layer : plan.factored) closing.factored.push_back(layer.offset);
  plan.states = states_of_rule(closing) + closing.update.local.saved;
  closing.common_weights = can_have_weights_in_common(spec, closing);
  closing.rank = 0;
  plan.first_numbers = rank_table(plan.table(), dtype, closing);
  plan.most_bytes = bytes_of(vectors_of(plan)).all();
  closing.rank = spec.facts.rank;
  plan.numbers = rank_table(plan.table(), dtype, closing);
  plan.list = vectors_of(plan);
  return plan;
}

}  // namespace tutti
