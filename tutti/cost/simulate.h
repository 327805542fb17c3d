// SPDX-License-Identifier: Apache-2.0
// How long training steps take on many ranks: every rank goes through the instructions of its role
// in virtual time, its messages by the schedules of their collectives. The walk is the executor's
// (exec/walk.h), so ranks do what they would do, in the order in which they would do it.
#pragma once

#include "tutti/comm/sim/compute_law.h"
#include "tutti/exec/compiled_step.h"
#include "tutti/exec/trace.h"

#include <cstdint>
#include <vector>

namespace tutti {

struct SimulateOptions {
  sim::ComputeLaw law = {};
  int steps = 1;                 // one behind the other
  TraceEvents* trace = nullptr;  // gets what the first ranks do when
  int traced_ranks = 8;
};

struct StepSimulation {
  double step_seconds = 0;  // mean over the steps
  // Of a step, mean over ranks; exposed is the time spent waiting.
  double compute_seconds = 0, exposed_seconds = 0;
  double longest_compute_seconds = 0;  // of the slowest rank
  double bytes_sent = 0;               // of a step, mean over ranks
  std::int64_t messages = 0;           // of all steps and ranks
};

// A compiled step and the seconds of its nodes.
struct TimedStep {
  const CompiledStep* step = nullptr;
  std::vector<double> seconds;
};

// What the ranks of a role do in a step: one micro-batch, or several whose gradients add up. All
// but the last step may postpone their updates, where there is one micro-batch.
struct SimulatedRole {
  std::vector<TimedStep> micro_batches;
};

// The endpoints of a store beside the ranks: what each endpoint does for one step of a rank, the
// same for every rank (compile_service). Empty: there are no endpoints.
using SimulatedStore = std::vector<TimedStep>;

// Simulates the steps of all ranks; `role_of` says the role of each. The facts and the mesh are
// those of the first role's steps, which are compiled for as many ranks.
StepSimulation simulate_steps(const std::vector<SimulatedRole>& roles,
                              const std::vector<int>& role_of, const SimulateOptions& options,
                              const SimulatedStore& store = {});

// The same where all ranks have one role of one micro-batch.
StepSimulation simulate_step(const CompiledStep& step, const std::vector<double>& seconds,
                             const SimulateOptions& options);

}  // namespace tutti
