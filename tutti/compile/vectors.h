// SPDX-License-Identifier: Apache-2.0
// The plan of a rank's flat vectors: their tables, and which parts of them the rank holds.
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/exchange/blocks.h"
#include "tutti/exchange/payloads/factors.h"
#include "tutti/exec/vectors.h"

#include <memory>
#include <vector>

namespace tutti {

struct VectorPlan {
  Net net;  // built for training with spec.batch samples, or with one where that is not known
  // The closing of the spec with what the spec leaves open: the rank, the number of ranks, which
  // gradients travel as factors, whether ranks have one copy of the weights.
  StepClosing closing;
  bool state_per_rank = false;  // there are several ranks, and each has its own layer state
  // Linear layers whose gradients travel as factors in steps of spec.batch samples; and what
  // decides for steps of other sizes (nullptr: there is one rank, or ranks do not meet).
  std::vector<LinearRange> factored = {};
  std::shared_ptr<FactorChoice> factors = {};
  int states = 0;  // how many optimizer state vectors checkpoints hold
  // The tables (graph/bind.h) of the first rank, for which steps are compiled, and of this rank.
  RankTable first_numbers = {}, numbers = {};
  std::vector<FlatVector> list = {};  // the flat vectors of this rank
  std::int64_t most_bytes = 0;  // of the vectors of the first rank, which has the longest parts

  // The base of this rank's part of the store's weights, where ranks do not meet.
  int store_base() const { return Base::optimizer + states; }
  const RangeTable& table() const { return net.table; }
  const RangeTable& layer_state_table() const { return net.state_table; }
  // Bytes of the vector with this base (0 where there is none), and of all vectors.
  std::int64_t bytes(int base) const;
  std::int64_t bytes() const { return bytes_of(list).all(); }
};

// Plans the vectors of rank spec.facts.rank.
VectorPlan plan_vectors(const StepSpec& spec);

}  // namespace tutti
