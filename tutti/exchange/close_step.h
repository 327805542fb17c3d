// SPDX-License-Identifier: Apache-2.0
// Closes the graph of a step: resolves partial gradient ranges and updates every trainable range,
// either whole, behind an allreduce; or each rank its own part, between a reduce-scatter of the
// gradient and an allgather of the weights, unless a rank keeps no more than its part of these
// (gather_weights.h). A block of ranges travels as soon as the backward pass
// has filled it, rounded to bf16 if that is wanted; its update waits for nothing else. A bound on
// the global norm is a declared barrier, and so is the guard against gradients that are not finite.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/graph/graph.h"
#include "tutti/optim/rule.h"

#include <vector>

namespace tutti {

// Rows of a table that a batch does not touch (Range::row_sparse) are left alone: never; where the
// rule would leave them as they are anyway; or always, so that momentum and decay wait for them.
enum class SparseRows { off, exact, lazy };

struct StepClosing {
  const Rule* rule = nullptr;
  Settings rule_settings = {};
  double weight_decay = 0;
  double clip_value = 0;  // 0: off
  double clip_norm = 0;   // 0: off
  bool guarded = false;   // nothing is updated unless all gradients are finite
  SparseRows sparse_rows = SparseRows::off;
  std::int64_t block_bytes = 1 << 20;  // neighbouring ranges are merged up to this size
  bool shard = false;                  // each rank updates, and keeps the state of, its own parts
  bool shard_parameters = false;       // with `shard`: and keeps no more than that of w and g
  bool accumulates = false;            // g holds the sums of several passes, so it is whole
  bool bf16 = false;                   // gradients are rounded to bf16 to be summed over ranks
  bool common_weights = false;         // ranks have one copy of w, which all must have read
  int rank = 0, ranks = 1;             // on the axis that gradients are summed over
  // Offsets of ranges whose gradients may travel as factors (factors.h): blocks of their own.
  std::vector<std::int64_t> factored = {};

  bool sharded() const { return shard && ranks > 1; }
  bool shards_weights() const { return sharded() && shard_parameters; }
  bool shards_gradients() const { return shards_weights() && !accumulates; }
  bool rounds() const { return bf16 && ranks > 1; }
  // Whether the rounded gradients have memory of their own, to travel on when the step has ended.
  bool keeps_rounded() const { return rounds() && !shards_gradients(); }
};

// Appends the nodes. The Σ g² of each update becomes a result of the graph, placed from
// `results_offset_bytes` on, 8 bytes each; they may be added up only when the step is done.
void close_step(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                std::int64_t results_offset_bytes);

// How many results that makes.
std::int64_t square_sums_of(const RangeTable& table, DType dtype, const StepClosing& closing);

}  // namespace tutti
