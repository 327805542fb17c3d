// SPDX-License-Identifier: Apache-2.0
// What a simulation of a job's step needs: how fast this machine computes, and which micro-batch
// closes the step.
#pragma once

#include "tutti/compile/spec.h"
#include "tutti/cost/machine.h"
#include "tutti/recipe/job.h"

#include <functional>
#include <string>
#include <vector>

namespace tutti {

// The speed of this machine with a number of threads: as calibrated, or else usual rates.
struct KnownSpeed {
  Calibration calibration;
  std::string date = "";  // of the calibration; empty: usual rates
};
KnownSpeed known_speed(int threads);

// Seconds of a step's nodes on a simulated rank, before slow ranks and jitter (sim::ComputeLaw).
std::vector<double> simulated_seconds(const CompiledStep& step, const Calibration& calibration,
                                      const Settings& simulation);
// A function that gives such seconds for the steps of ranks on a virtual clock; empty where time is
// real. The job must outlive the function.
std::function<std::vector<double>(const CompiledStep&)> virtual_seconds(const Job& job,
                                                                        int threads);

// The last micro-batch of a step, which exchanges and updates, on rank 0; and how many
// micro-batches go before it.
struct LastMicroBatch {
  std::int64_t samples = 0, local = 0;
  Accumulation accumulation = {};
  int before = 0;
};
LastMicroBatch last_micro_batch(const Job& job);

}  // namespace tutti
