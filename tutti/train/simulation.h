// SPDX-License-Identifier: Apache-2.0
// What the table [simulation] means, and the time of a step of a job on ranks that are not there.
#pragma once

#include "tutti/comm/sim/world.h"
#include "tutti/cost/simulate.h"
#include "tutti/train/job.h"

#include <functional>
#include <map>
#include <string>

namespace tutti {

// "3:2.5 7:1.2": factors by rank. Throws Error on anything else.
std::map<int, double> slow_ranks(const std::string& text);

// Whether the job's ranks run on a virtual clock.
bool on_virtual_clock(const Job& job);
sim::SimulatedMachine simulated_machine(const Settings& simulation);
// Empty where time is real. The job must outlive it.
std::function<std::vector<double>(const Program&)> virtual_seconds(const Job& job, int threads);

Network simulated_network(const Settings& simulation);
sim::ComputeLaw simulated_law(const Settings& simulation);

// What was measured of this machine with so many threads, or usual rates where nothing was.
struct KnownSpeed {
  Calibration calibration;
  std::string date = "";  // of the calibration; empty: usual rates
};
KnownSpeed known_speed(int threads);

// Seconds of a program's nodes on a simulated rank, before the law of that rank.
std::vector<double> simulated_seconds(const Program& program, const Calibration& calibration,
                                      const Settings& simulation);

// The pass of a batch that exchanges and updates, on rank 0, and how many go before it.
struct LastPass {
  std::int64_t samples = 0, local = 0;
  Accumulation accumulation = {};
  int before = 0;
};
LastPass last_pass(const Job& job);

struct SimulatedJob {
  StepSimulation step;
  int ranks = 1, threads = 1;
  std::int64_t samples = 0, local = 0;  // of a batch, and of a rank in a pass of it
  std::int64_t block_bytes = 0;         // of exchange, given or chosen
  std::string calibrated = "";          // when this machine was; empty: usual rates
  std::map<std::string, int> messages;  // "allreduce by rabenseifner": how many of a step
};

// Compiles what one of the job's ranks would run and simulates all of them. The trace is that of
// the pass that exchanges.
SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace);

}  // namespace tutti
