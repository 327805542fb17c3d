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

// What was measured of this machine with so many threads, or usual rates where nothing was.
struct KnownSpeed {
  Calibration calibration;
  std::string date = "";  // of the calibration; empty: usual rates
};
KnownSpeed known_speed(int threads);

// Seconds of a step's nodes on a simulated rank, before the law of that rank.
std::vector<double> simulated_seconds(const CompiledStep& step, const Calibration& calibration,
                                      const Settings& simulation);
// The same for the steps of ranks on a virtual clock; empty where time is real. The job must
// outlive it.
std::function<std::vector<double>(const CompiledStep&)> virtual_seconds(const Job& job,
                                                                        int threads);

// The micro-batch that exchanges and updates, on rank 0, and how many go before it.
struct LastPass {
  std::int64_t samples = 0, local = 0;
  Accumulation accumulation = {};
  int before = 0;
};
LastPass last_pass(const Job& job);

}  // namespace tutti
