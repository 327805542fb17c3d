// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of the flat vectors: their tables, and which parts of them are its own.
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/exchange/blocks.h"
#include "tutti/exchange/payloads/factors.h"
#include "tutti/exec/vectors.h"

#include <memory>
#include <vector>

namespace tutti {

struct VectorPlan {
  Net net;  // of the training step that spec.batch says, or of one sample
  // As the spec has it, with this rank's place and the gradients that travel as factors.
  StepClosing closing;
  bool state_per_rank = false;  // ranks, of which there are several, have their own layer state
  // Linear layers whose gradients travel as factors in a usual step, and who decides for others;
  // nullptr: there is one rank.
  std::vector<LinearRange> factored = {};
  std::shared_ptr<FactorChoice> factors = {};
  int states = 0;  // how many optimizer state vectors checkpoints hold
  // The numbers of the first rank, for which steps are compiled, and of this one (graph/bind.h).
  RankTable first_numbers = {}, numbers = {};
  std::vector<FlatVector> list = {};  // what this rank has
  std::int64_t most_bytes = 0;  // of the vectors of the first rank, which has the longest parts

  // Of the store's weights, of which this rank keeps its part, where ranks do not meet.
  int store_base() const { return Base::optimizer + states; }
  const RangeTable& table() const { return net.table; }
  const RangeTable& layer_state_table() const { return net.state_table; }
  // Of the vector with this base; 0 where there is none.
  std::int64_t bytes(int base) const;
  std::int64_t bytes() const { return bytes_of(list).all(); }
};

// Of rank spec.facts.rank.
VectorPlan plan_vectors(const StepSpec& spec);

}  // namespace tutti
