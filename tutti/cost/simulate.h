// SPDX-License-Identifier: Apache-2.0
// How long a data-parallel training step takes on many ranks: every rank runs the same step in
// virtual time, its messages by the schedules of their collectives. A message starts when what it
// carries is there, travels while the rank computes, and is waited for where it is needed, as the
// executor does it.
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
  double step_seconds = 0;                          // mean over the steps
  double compute_seconds = 0, exposed_seconds = 0;  // of a step, mean over ranks: exposed is waited
  double longest_compute_seconds = 0;               // of the slowest rank
  double bytes_sent = 0;                            // of a step, mean over ranks
  std::int64_t messages = 0;                        // of all steps and ranks
};

// `step` is compiled for one rank of many; `seconds` are those of its nodes.
StepSimulation simulate_step(const CompiledStep& step, const std::vector<double>& seconds,
                             const SimulateOptions& options);

}  // namespace tutti
