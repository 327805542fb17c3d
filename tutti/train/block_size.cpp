// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/block_size.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/sim/planned_rank.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/cost/simulate.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/simulated_step.h"

#include <memory>

namespace tutti {
namespace {

constexpr double worth_it = 0.99;

// A rank like this one to plan with, which is not in its job.
std::unique_ptr<Communicator> stand_in(Communicator& communicator) {
  if (communicator.shared() != nullptr)
    return std::move(thread_communicators(communicator.size()).front());
  return sim::planned_rank(0, communicator.size(), communicator.network());
}

double simulated_step(const Job& job, ReplicaOptions options, std::int64_t block_bytes,
                      const Calibration& calibration) {
  options.closing.block_bytes = block_bytes;
  options.seconds = {};
  Replica replica(options);
  const LastPass last = last_pass(job);
  const Program program = replica.planned_program(last.samples, last.local, last.accumulation);
  const Settings& simulation = job.table("simulation");
  return simulate_step(program, simulated_seconds(program, calibration, simulation),
                       {.law = simulated_law(simulation)})
      .step_seconds;
}

}  // namespace

std::int64_t best_block_bytes(const Job& job, const NetInput& input, int threads,
                              Communicator& communicator) {
  const std::int64_t usual = StepClosing{}.block_bytes;
  if (communicator.size() == 1) return usual;
  const auto rank = stand_in(communicator);
  const ReplicaOptions options = replica_options(job, input, threads, rank.get());
  const Calibration calibration = known_speed(threads).calibration;
  std::int64_t best = usual;
  double least = simulated_step(job, options, usual, calibration);
  for (std::int64_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
    if (bytes == usual) continue;
    const double seconds = simulated_step(job, options, bytes, calibration);
    if (seconds < worth_it * least) best = bytes, least = seconds;
  }
  return best;
}

std::int64_t common_block_bytes(const Job& job, const NetInput& input, int threads,
                                Communicator& communicator) {
  double bytes = 0;
  if (communicator.rank() == 0)
    bytes = static_cast<double>(best_block_bytes(job, input, threads, communicator));
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
