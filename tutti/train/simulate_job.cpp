// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulate_job.h"

#include "tutti/compile/compile_step.h"
#include "tutti/recipe/simulation.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/block_size.h"
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
  const TransportFacts facts{.rank = 0,
                             .size = result.ranks,
                             .network = simulated_network(simulation),
                             .core_sharers = result.ranks};
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  StepSpec spec = step_spec(job, input, result.threads, facts);
  if (job.table("exchange").integer("block_bytes") == 0)
    spec.closing.block_bytes = best_block_bytes(job, input, result.threads, facts);
  result.block_bytes = spec.closing.block_bytes;
  const StepCompiler compiler(std::move(spec));
  const KnownSpeed speed = known_speed(result.threads);
  result.calibrated = speed.date;
  const LastPass last = last_pass(job);
  result.local = last.local;
  const auto compiled = [&](const Accumulation& accumulation) {
    return compiler.compile({true, last.samples, last.local, accumulation}).step;
  };
  const auto simulate = [&](const CompiledStep& step, TraceEvents* traced) {
    return simulate_step(step, simulated_seconds(step, speed.calibration, simulation),
                         {.law = simulated_law(simulation), .steps = steps, .trace = traced});
  };
  const CompiledStep step = compiled(last.accumulation);
  for (int i = 0; i < step.size(); ++i)
    if (step.is_message(i))
      ++result.messages[fmt::format("{} by {}", step.node(i).op->name, step.implementation(i))];
  result.step = simulate(step, trace);
  if (last.before > 0) add(result.step, simulate(compiled({true, false}), nullptr), last.before);
  return result;
}

}  // namespace tutti
