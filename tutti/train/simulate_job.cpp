// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulate_job.h"

#include "tutti/comm/sim/planned_rank.h"
#include "tutti/recipe/simulation.h"
#include "tutti/train/block_size.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/simulated_step.h"

namespace tutti {
namespace {

void add(StepSimulation& sum, const StepSimulation& pass, int passes) {
  sum.step_seconds += passes * pass.step_seconds;
  sum.compute_seconds += passes * pass.compute_seconds;
  sum.exposed_seconds += passes * pass.exposed_seconds;
  sum.longest_compute_seconds += passes * pass.longest_compute_seconds;
  sum.bytes_sent += passes * pass.bytes_sent;
  sum.messages += passes * pass.messages;
}

}  // namespace

SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace) {
  const Settings& simulation = job.table("simulation");
  SimulatedJob result;
  result.ranks = job.ranks();
  result.threads = threads_per_rank(job, static_cast<int>(simulation.integer("node_ranks")));
  result.samples = job.table("train").integer("batch");
  // Rank 0 has a part of everything that is shared out, however short.
  const auto rank = sim::planned_rank(0, result.ranks, simulated_network(simulation));
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  ReplicaOptions options = replica_options(job, input, result.threads, rank.get());
  if (job.table("exchange").integer("block_bytes") == 0)
    options.closing.block_bytes = best_block_bytes(job, input, result.threads, *rank);
  result.block_bytes = options.closing.block_bytes;
  Replica replica(options);
  const KnownSpeed speed = known_speed(result.threads);
  result.calibrated = speed.date;
  const auto simulate = [&](const Program& program, TraceEvents* traced) {
    return simulate_step(program, simulated_seconds(program, speed.calibration, simulation),
                         {.law = simulated_law(simulation), .steps = steps, .trace = traced});
  };
  const LastPass last = last_pass(job);
  result.local = last.local;
  const Program program = replica.planned_program(last.samples, last.local, last.accumulation);
  for (int i = 0; i < program.size(); ++i)
    if (program.is_message(i))
      ++result.messages[fmt::format("{} by {}",
                                    program.graph().nodes[static_cast<std::size_t>(i)].op->name,
                                    program.implementation(i))];
  result.step = simulate(program, trace);
  if (last.before > 0)
    add(result.step,
        simulate(replica.planned_program(last.samples, last.local, {true, false}), nullptr),
        last.before);
  return result;
}

}  // namespace tutti
