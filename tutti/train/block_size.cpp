// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/block_size.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/compile/compile_step.h"
#include "tutti/cost/simulate.h"
#include "tutti/recipe/simulation.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/simulated_step.h"

#include <utility>

namespace tutti {
namespace {

constexpr double worth_it = 0.99;

double simulated_step(const Job& job, StepSpec spec, std::int64_t block_bytes,
                      const Calibration& calibration) {
  spec.closing.scheme.block_bytes = block_bytes;
  const LastMicroBatch last = last_micro_batch(job);
  const CompiledStep step = StepCompiler(std::move(spec))
                                .compile({true, last.samples, last.local, last.accumulation})
                                .step;
  const Settings& simulation = job.table("simulation");
  return simulate_step(step, simulated_seconds(step, calibration, simulation),
                       {.law = simulated_law(simulation)})
      .step_seconds;
}

}  // namespace

std::int64_t best_block_bytes(const Job& job, const NetInput& input, int threads,
                              const TransportFacts& facts) {
  const std::int64_t usual = Scheme{}.block_bytes;
  if (facts.size == 1) return usual;
  const StepSpec spec = step_spec(job, input, threads, facts);
  const Calibration calibration = known_speed(threads).calibration;
  std::int64_t best = usual;
  double least = simulated_step(job, spec, usual, calibration);
  for (std::int64_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
    if (bytes == usual) continue;
    const double seconds = simulated_step(job, spec, bytes, calibration);
    if (seconds < worth_it * least) best = bytes, least = seconds;
  }
  return best;
}

std::int64_t common_block_bytes(const Job& job, const NetInput& input, int threads,
                                Communicator& communicator) {
  double bytes = 0;
  if (communicator.rank() == 0)
    bytes = static_cast<double>(best_block_bytes(job, input, threads, communicator.facts()));
  const auto tell = broadcasts().find("tree").make(
      communicator, {.dtype = DType::f64,
                     .count = 1,
                     .tag = communicator.tags().of({.what = "the size of blocks"}),
                     .what = "the size of blocks"});
  tell->start(&bytes);
  wait(*tell, communicator);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace tutti
