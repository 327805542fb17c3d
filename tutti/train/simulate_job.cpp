// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulate_job.h"

#include "tutti/compile/compile_step.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/simulation.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/block_size.h"
#include "tutti/train/simulated_step.h"

#include <memory>
#include <optional>
#include <vector>

namespace tutti {
namespace {

// The compiled steps of a role: of the micro-batch that closes a step, and of those before it.
struct RoleSteps {
  RoleSteps(const StepCompiler& compiler, Purpose purpose, int before)
      : last(compiler.compile(purpose).step), micro_batches_before(before) {
    purpose.accumulation = {false, false};
    if (before > 0) first = compiler.compile(purpose).step;
    purpose.accumulation = {true, false};
    if (before > 1) between = compiler.compile(purpose).step;
  }

  template <class Seconds>
  SimulatedRole timed(const Seconds& seconds) const {
    SimulatedRole role;
    if (first) role.micro_batches.push_back({&*first, seconds(*first)});
    if (between)
      role.micro_batches.insert(role.micro_batches.end(),
                                static_cast<std::size_t>(micro_batches_before - 1),
                                {&*between, seconds(*between)});
    role.micro_batches.push_back({&last, seconds(last)});
    return role;
  }

  CompiledStep last;
  int micro_batches_before;
  std::optional<CompiledStep> first = {}, between = {};
};

// The compiled services of the endpoints, by rank; none where ranks meet.
std::vector<CompiledStep> services_of(const StepCompiler& compiler) {
  std::vector<CompiledStep> services;
  VectorPlan plan = compiler.vectors();
  if (plan.closing.meets()) return services;
  for (plan.closing.rank = 0; plan.closing.rank < plan.closing.ranks; ++plan.closing.rank)
    services.push_back(compile_service(compiler.spec(), plan, compiler.kernels(), 0));
  return services;
}

}  // namespace

SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace) {
  const Settings& simulation = job.table("simulation");
  SimulatedJob result;
  result.ranks = job.ranks();
  result.threads = threads_per_rank(job, static_cast<int>(simulation.integer("node_ranks")));
  result.samples = job.table("train").integer("batch");
  // Rank 0 stands for all: it has a part of every vector that is cut, however short.
  const TransportFacts facts{.rank = 0,
                             .size = result.ranks,
                             .network = simulated_network(simulation),
                             .core_sharers = result.ranks};
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  StepSpec spec = step_spec(job, input, result.threads, facts);
  if (job.table("exchange").integer("block_bytes") == 0)
    spec.closing.scheme.block_bytes = best_block_bytes(job, input, result.threads, facts);
  result.block_bytes = spec.closing.scheme.block_bytes;
  const StepCompiler compiler(std::move(spec));
  const KnownSpeed speed = known_speed(result.threads);
  result.calibrated = speed.date;
  const LastMicroBatch last = last_micro_batch(job);
  result.local = last.local;
  std::vector<Purpose> purposes;
  for (int rank = 0; rank < result.ranks; ++rank)
    purposes.push_back({true, last.samples,
                        data::share_of(last.samples, rank, result.ranks).count(),
                        last.accumulation});
  const std::vector<Role> roles = roles_of(purposes);
  std::vector<std::unique_ptr<RoleSteps>> steps_of;
  std::vector<SimulatedRole> simulated;
  std::vector<int> role_of(static_cast<std::size_t>(result.ranks));
  for (std::size_t k = 0; k < roles.size(); ++k) {
    for (const int rank : roles[k].ranks)
      role_of[static_cast<std::size_t>(rank)] = static_cast<int>(k);
    steps_of.push_back(std::make_unique<RoleSteps>(compiler, roles[k].purpose, last.before));
    simulated.push_back(steps_of.back()->timed([&](const CompiledStep& step) {
      return simulated_seconds(step, speed.calibration, simulation);
    }));
  }
  const CompiledStep& step = steps_of.front()->last;
  for (int i = 0; i < step.size(); ++i)
    if (step.is_message(i))
      ++result.messages[fmt::format("{} by {}", step.node(i).op->name, step.implementation(i))];
  const std::vector<CompiledStep> services = services_of(compiler);
  SimulatedStore store;
  for (const CompiledStep& service : services)
    store.push_back({&service, simulated_seconds(service, speed.calibration, simulation)});
  result.step =
      simulate_steps(simulated, role_of,
                     {.law = simulated_law(simulation), .steps = steps, .trace = trace}, store);
  return result;
}

}  // namespace tutti
