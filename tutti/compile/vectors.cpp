// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/vectors.h"

namespace tutti {
namespace {

// Ranks of one process of which each updates its own part of the weights, when all have used them.
bool can_have_weights_in_common(const StepSpec& spec, const StepClosing& closing) {
  const std::string& allgather = spec.messages.allgather;
  return spec.facts.shared_memory && closing.sharded() && !closing.shards_weights() &&
         !spec.messages.across_steps.value_or(false) &&
         (allgather == "auto" || allgather == "direct");
}

// What the rank of plan.closing keeps.
void lay_out(VectorPlan& plan) {
  plan.weights = weight_layout(plan.table(), plan.net.dtype, plan.closing);
  plan.gradients = gradient_layout(plan.table(), plan.net.dtype, plan.closing);
  plan.state = state_layout(plan.table(), plan.net.dtype, plan.closing);
}

}  // namespace

VectorPlan plan_vectors(const StepSpec& spec) {
  NetInput smallest = spec.input;
  smallest.batch = 1;
  VectorPlan plan{.net = spec.build(smallest), .closing = spec.closing};
  StepClosing& closing = plan.closing;
  closing.rank = spec.facts.rank, closing.ranks = spec.facts.size;
  const DType dtype = spec.input.dtype;
  plan.state_per_rank = plan.net.state_per_rank && closing.ranks > 1;
  if (closing.ranks > 1) {
    plan.factors =
        std::make_shared<FactorChoice>(spec.factors, spec.messages.fixed_order,
                                       ExchangeTimes{.facts = spec.facts,
                                                     .allgather = spec.messages.allgather,
                                                     .reduce_scatter = spec.messages.reduce_scatter,
                                                     .allreduce = spec.messages.allreduce,
                                                     .sharded = closing.sharded()});
    plan.factored = plan.factors->among(plan.net.graph, plan.table(), dtype, closing, spec.batch);
  }
  for (const LinearRange& layer : plan.factored) closing.factored.push_back(layer.offset);
  plan.states = (closing.rule == nullptr ? 0 : closing.rule->states) + spec.extra_states;
  closing.rank = 0;
  lay_out(plan);
  plan.first_numbers = rank_table(plan.table(), dtype, closing);
  plan.most_bytes = plan.bytes();
  closing.rank = spec.facts.rank;
  lay_out(plan);
  plan.numbers = rank_table(plan.table(), dtype, closing);
  plan.common_weights = closing.common_weights = can_have_weights_in_common(spec, closing);
  return plan;
}

}  // namespace tutti
