// SPDX-License-Identifier: Apache-2.0
// What closes the step of a rank: the scheme by which ranks exchange, and the rule by which weights
// change.
#pragma once

#include "tutti/exchange/local_rules/local_rule.h"
#include "tutti/exchange/scheme.h"
#include "tutti/optim/rule.h"

#include <cstdint>
#include <vector>

namespace tutti {

// When an update leaves out the rows of a table that a batch does not touch (Range::row_sparse):
// never (off); where the rule would not change them anyway (exact); or always (lazy), so that their
// momentum and decay wait until a batch touches them.
enum class SparseRows { off, exact, lazy };

// How a block's gradient changes its weights.
struct Updating {
  const Rule* rule = nullptr;
  Settings rule_settings = {};
  LocalRule local = local_rules().find("none");
  double weight_decay = 0;
  double clip_value = 0;  // 0: off
  double clip_norm = 0;   // 0: off
  bool guarded = false;   // nothing is updated unless all gradients are finite
  SparseRows sparse_rows = SparseRows::off;
};

struct StepClosing {
  Updating update = {};
  Scheme scheme = {};
  bool accumulates = false;     // g sums several micro-batches, so each rank keeps all of it
  bool common_weights = false;  // ranks have one copy of w, updated when all have read it
  int rank = 0, ranks = 1;      // along the axis that gradients are summed over
  // Offsets of ranges whose gradients may travel as factors (factors.h): blocks of their own.
  std::vector<std::int64_t> factored = {};

  // Whether ranks meet in every step; otherwise the store is cut over endpoints.
  bool meets() const { return scheme.gate.meets; }
  // Whether several ranks each own a part of every block.
  bool sharded() const { return scheme.store.owns_parts && ranks > 1; }
  // Whether a rank keeps only its own parts of: optimizer states, weights, gradients.
  bool owns_parts() const { return sharded() || !meets(); }
  bool shards_weights() const { return sharded() && scheme.store.keeps_parts; }
  bool shards_gradients() const { return shards_weights() && !accumulates; }
  bool encodes() const { return scheme.codec.encode != nullptr && ranks > 1; }
  // Whether encoded gradients have a flat vector, from which they can travel on after the step.
  bool keeps_encoded() const { return encodes() && !shards_gradients(); }
};

}  // namespace tutti
