// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate.h"

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/shipped.h"
#include "tutti/core/bytes.h"
#include "tutti/train/simulate_job.h"

#include <chrono>

namespace tutti::cli {
namespace {

Recipe machine_of(const std::string& named) {
  if (std::optional<Recipe> machine = as_usage([&] { return read_named(named, shipped_machines); }))
    return *std::move(machine);
  throw UsageError("unknown machine '{}'{}", named,
                   nearest_of(named, shipped_machines().names(), "tutti list machines"));
}

// Adds the settings of a machine file to the recipe; settings of the recipe and of --set come
// before them.
void add_machine(Recipe& recipe, const std::string& named) {
  const Recipe machine = machine_of(named);
  for (const auto& [table, settings] : machine.tables)
    if (table != "simulation")
      throw UsageError("{}: a machine is described by [simulation], not by [{}]", machine.file,
                       table);
  const auto found = machine.tables.find("simulation");
  if (found == machine.tables.end()) throw UsageError("{}: [simulation] is missing", machine.file);
  Settings& own = recipe.tables["simulation"];
  for (const auto& [key, value] : found->second.values())
    if (!own.has(key)) {
      own.set(key, value);
      const std::string name = "simulation." + key;
      recipe.origins[name] = machine.origins.find(name)->second;
    }
}

Job job_to_simulate(SimulateArguments& options) {
  Recipe recipe = recipe_or_model(options.job.recipe, "tutti train --simulate", options.job);
  if (!options.machine.empty()) add_machine(recipe, options.machine);
  if (options.ranks > 0)
    options.job.changes.push_back(fmt::format("partition.data={}", options.ranks));
  return untrained_job(std::move(recipe), options.job);
}

std::string milliseconds(double seconds) { return fmt::format("{:>10.3f} ms", 1e3 * seconds); }

std::string text_of(const SimulatedJob& job) {
  const StepSimulation& step = job.step;
  const double samples_per_second = static_cast<double>(job.samples) / step.step_seconds;
  std::vector<std::vector<std::string>> rows = {
      {"step", milliseconds(step.step_seconds),
       fmt::format("{:.0f} samples per second", samples_per_second)},
      {"computing", milliseconds(step.compute_seconds),
       fmt::format("mean over ranks; the slowest {:.3f} ms", 1e3 * step.longest_compute_seconds)},
      {"waiting", milliseconds(step.exposed_seconds),
       fmt::format("for messages and other ranks: {:.0f} % of the step",
                   100 * step.exposed_seconds / step.step_seconds)},
      {"sent", fmt::format("{:>13}", bytes_text(static_cast<std::int64_t>(step.bytes_sent))),
       fmt::format("by each rank, in blocks of up to {}", bytes_text(job.block_bytes))}};
  for (const auto& [name, count] : job.messages)
    rows.push_back({"messages", fmt::format("{:>10}   ", count), name});
  return in_columns(rows);
}

}  // namespace

int simulate(SimulateArguments options) {
  const Job job = job_to_simulate(options);
  TraceEvents trace;
  const auto began = std::chrono::steady_clock::now();
  const SimulatedJob result =
      simulate_job(job, options.steps, options.trace.empty() ? nullptr : &trace);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("{} rank{} × {} thread{}, {} of {} samples each; {}\n", result.ranks,
             result.ranks == 1 ? "" : "s", result.threads, result.threads == 1 ? "" : "s",
             result.local, result.samples,
             result.calibrated.empty()
                 ? "computing at usual rates, since this machine is not calibrated (tutti "
                   "calibrate)"
                 : "computing as calibrated " + result.calibrated);
  fmt::print("{}{} message{} simulated in {:.1f} s\n", text_of(result), result.step.messages,
             result.step.messages == 1 ? "" : "s", took.count());
  if (!options.trace.empty()) {
    write_trace(options.trace, trace);
    fmt::print("trace {}\n", options.trace);
  }
  return 0;
}

}  // namespace tutti::cli
