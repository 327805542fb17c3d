// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulate_job.h"

#include "tutti/compile/compile_step.h"
#include "tutti/recipe/simulation.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/block_size.h"
#include "tutti/train/simulated_step.h"

#include <optional>

namespace tutti {
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
  const CompiledStep step = compiled(last.accumulation);
  for (int i = 0; i < step.size(); ++i)
    if (step.is_message(i))
      ++result.messages[fmt::format("{} by {}", step.node(i).op->name, step.implementation(i))];
  const auto timed = [&](const CompiledStep& pass) {
    return TimedStep{&pass, simulated_seconds(pass, speed.calibration, simulation)};
  };
  SimulatedRole role;
  std::optional<CompiledStep> first, between;
  if (last.before > 0) role.passes.push_back(timed(first.emplace(compiled({false, false}))));
  if (last.before > 1) {
    between = compiled({true, false});
    role.passes.insert(role.passes.end(), static_cast<std::size_t>(last.before - 1),
                       timed(*between));
  }
  role.passes.push_back(timed(step));
  result.step = simulate_steps({role}, std::vector<int>(static_cast<std::size_t>(result.ranks)),
                               {.law = simulated_law(simulation), .steps = steps, .trace = trace});
  return result;
}

}  // namespace tutti
