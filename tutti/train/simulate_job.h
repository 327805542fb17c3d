// SPDX-License-Identifier: Apache-2.0
// Simulates steps of a job on ranks that need not exist.
#pragma once

#include "tutti/cost/simulate.h"
#include "tutti/recipe/job.h"

#include <map>
#include <string>

namespace tutti {

struct SimulatedJob {
  StepSimulation step;
  int ranks = 1, threads = 1;
  std::int64_t samples = 0, local = 0;  // of a batch, and of rank 0 in the last micro-batch
  std::int64_t block_bytes = 0;         // size of blocks, given or chosen
  std::string calibrated = "";          // date of this machine's calibration; empty: usual rates
  std::map<std::string, int> messages;  // "allreduce by rabenseifner": how many of a step
};

// Compiles the steps of each role of the job's ranks and simulates `steps` steps of all ranks. The
// trace is that of the micro-batch that exchanges.
SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace);

}  // namespace tutti
