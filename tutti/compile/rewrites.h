// SPDX-License-Identifier: Apache-2.0
// All rewrites of a graph between the network and the instructions of a role, as one list in the
// order in which they run: those that make it train, cut it over ranks and add the exchange. Behind
// them run the passes that fit the graph to the back end (passes/).
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/compile/vectors.h"
#include "tutti/core/list.h"
#include "tutti/passes/pass.h"
#include "tutti/passes/recompute.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tutti {

// Byte offsets of what the host reads of a step, in its results: the loss, the metric, the stop
// word, the word of a bad step and, from square_sum_offset on, the sums of squares.
inline constexpr std::int64_t loss_offset = 0, metric_offset = 8, stop_word_offset = 16,
                              bad_step_offset = 32, square_sum_offset = 40;

// What a rewrite may read besides the graph.
struct CompileContext {
  const StepSpec& spec;
  const VectorPlan& vectors;
  const StepClosing& closing;  // its rank stands for all ranks of the role
  const Purpose& purpose;
  const Net& net;
  // Cells of the forward graph, and which of them are computed again. Both are empty until autodiff
  // has run.
  std::vector<Cell> cells = {};
  RecomputePlan plan = {};
};

// A rewrite of the graph of a step. It runs where `wanted` says that the step needs it.
struct Rewrite {
  std::string name, doc;
  bool (*wanted)(const CompileContext&) = nullptr;
  void (*run)(Graph&, const CompileContext&) = nullptr;
  bool may_be_left_out = false;  // the step computes the same without it, up to rounding
};

// The rewrites that run before the passes of the back end, in order.
List<Rewrite> rewrites();

// The names of rewrites and passes with their docs, in the order in which they run.
List<Pass> all_passes();
// Throws Error where one of these names is unknown or belongs to a rewrite that can't be left out.
void require_may_be_left_out(const std::set<std::string>& without);

}  // namespace tutti
