// SPDX-License-Identifier: Apache-2.0
// The time of a step of a job on ranks that are not there.
#pragma once

#include "tutti/cost/simulate.h"
#include "tutti/recipe/job.h"

#include <map>
#include <string>

namespace tutti {

struct SimulatedJob {
  StepSimulation step;
  int ranks = 1, threads = 1;
  std::int64_t samples = 0, local = 0;  // of a batch, and of a rank in a micro-batch
  std::int64_t block_bytes = 0;         // of exchange, given or chosen
  std::string calibrated = "";          // when this machine was; empty: usual rates
  std::map<std::string, int> messages;  // "allreduce by rabenseifner": how many of a step
};

// Compiles what one of the job's ranks would run and simulates all of them. The trace is that of
// the micro-batch that exchanges.
SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace);

}  // namespace tutti
