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

// Rows of a table that a batch does not touch (Range::row_sparse) are left alone: never; where the
// rule would leave them as they are anyway; or always, so that momentum and decay wait for them.
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
  bool accumulates = false;     // g holds the sums of several micro-batches, so it is whole
  bool common_weights = false;  // ranks have one copy of w, which all must have read
  int rank = 0, ranks = 1;      // on the axis that gradients are summed over
  // Offsets of ranges whose gradients may travel as factors (factors.h): blocks of their own.
  std::vector<std::int64_t> factored = {};

  // Ranks meet in every step; else the store is endpoints.
  bool meets() const { return scheme.gate.meets; }
  bool sharded() const { return scheme.store.owns_parts && ranks > 1; }
  // Whether states are kept in parts.
  bool owns_parts() const { return sharded() || !meets(); }
  bool shards_weights() const { return sharded() && scheme.store.keeps_parts; }
  bool shards_gradients() const { return shards_weights() && !accumulates; }
  bool encodes() const { return scheme.codec.encode != nullptr && ranks > 1; }
  // Whether encoded gradients have memory of their own, to travel on when the step has ended.
  bool keeps_encoded() const { return encodes() && !shards_gradients(); }
};

}  // namespace tutti
