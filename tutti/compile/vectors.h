// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of the flat vectors: their tables, and which parts of them are its own.
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/exchange/blocks.h"

#include <memory>
#include <vector>

namespace tutti {

struct VectorPlan {
  Net net;  // of one sample
  // As the spec has it, with this rank's place and the gradients that travel as factors.
  StepClosing closing;
  bool state_per_rank = false;  // ranks, of which there are several, have their own layer state
  // Linear layers whose gradients travel as factors in a usual step, and who decides for others;
  // nullptr: there is one rank.
  std::vector<LinearRange> factored = {};
  std::shared_ptr<FactorChoice> factors = {};
  // Of weights, gradients and optimizer state vectors, which may hold this rank's own parts only.
  StateLayout weights = {}, gradients = {}, state = {};
  int states = 0;               // how many state vectors
  bool common_weights = false;  // all ranks have the same memory for them
  // The numbers of the first rank, for which steps are compiled, and of this one (graph/bind.h).
  RankTable first_numbers = {}, numbers = {};
  std::int64_t most_bytes = 0;  // what bytes() is on the first rank, which has the longest parts

  const RangeTable& table() const { return net.table; }
  const RangeTable& layer_state_table() const { return net.state_table; }
  std::int64_t weight_bytes() const { return weights.count * bytes_of(net.dtype); }
  std::int64_t gradient_bytes() const { return gradients.count * bytes_of(net.dtype); }
  // Gradients in bf16, as they travel where the exchange rounds them.
  std::int64_t rounded_bytes() const {
    return closing.keeps_rounded() ? gradients.count * bytes_of(DType::bf16) : 0;
  }
  std::int64_t bytes() const {
    return weight_bytes() + gradient_bytes() + rounded_bytes() +
           (layer_state_table().count() + states * state.count) * bytes_of(net.dtype);
  }
};

// Of rank spec.facts.rank.
VectorPlan plan_vectors(const StepSpec& spec);

}  // namespace tutti
