// SPDX-License-Identifier: Apache-2.0
// All that happens to a graph between the network and the instructions of a role, as one list in
// its order: what trains it, what cuts it over ranks, what exchanges, and then the passes that fit
// it to the back end.
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

// What the host reads of a step stands behind each other: loss, metric, the stop word, the bad
// step, then sums of squares.
inline constexpr std::int64_t loss_offset = 0, metric_offset = 8, stop_word_offset = 16,
                              bad_step_offset = 32, square_sum_offset = 40;

// What rewrites may ask.
struct CompileContext {
  const StepSpec& spec;
  const VectorPlan& vectors;
  const StepClosing& closing;  // of the rank that stands for its role
  const Purpose& purpose;
  const Net& net;
  // Cells of the forward pass, and what of them is computed again; empty before the backward pass
  // is there.
  std::vector<Cell> cells = {};
  RecomputePlan plan = {};
};

struct Rewrite {
  std::string name, doc;
  bool (*wanted)(const CompileContext&) = nullptr;
  void (*run)(Graph&, const CompileContext&) = nullptr;
  bool may_be_left_out = false;  // results are equal without
};

// Those before the passes of the back end.
List<Rewrite> rewrites();

// The names of rewrites and passes with their docs, in the order in which they run.
List<Pass> all_passes();
// Throws Error where one of these can't be left out.
void require_may_be_left_out(const std::set<std::string>& without);

}  // namespace tutti
