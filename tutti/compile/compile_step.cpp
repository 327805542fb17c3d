// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/compile_step.h"

#include "tutti/cost/predict.h"
#include "tutti/exchange/stores/endpoints.h"
#include "tutti/kernels/backends.h"
#include "tutti/passes/recompute_choices.h"

#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace tutti {
namespace {

// The plans to try, least time first.
std::vector<RecomputePlan> plans_for(const MemoryOptions& options, const std::vector<Cell>& cells) {
  if (options.recompute == "every") return {recompute_every(cells, options.every)};
  if (options.recompute == "root") return {recompute_root(cells)};
  if (options.recompute == "slots") return {recompute_slots(cells, options.slots)};
  if (options.recompute == "none" || options.limit_bytes == 0) return {{}};
  return recompute_choices(cells);
}

MemoryReport report_of(const Graph& graph, const std::vector<Cell>& cells,
                       const RecomputePlan& plan, const NodeSeconds& seconds, std::int64_t bytes) {
  MemoryReport report{.cells = static_cast<int>(cells.size()), .bytes = bytes};
  for (const Recomputed& run : plan.runs) report.recomputed += run.last - run.first;
  double all = 0;
  for (const Node& node : graph.nodes) all += seconds(graph, node);
  report.extra_work = all > 0 ? plan.seconds / all : 0;
  return report;
}

// A graph to which a plan of recomputation was applied, compiled to the end.
struct Attempt {
  std::size_t plan = 0;  // its number among the plans
  Graph graph;
  MemoryPlan memory;
  std::vector<PassReport> passes;
  std::int64_t bytes = 0;
};

// The network for a batch of this purpose: that of the vector plan where the batch has the same
// size, else one that is built anew.
Net net_of(const StepSpec& spec, const VectorPlan& vectors, const Purpose& purpose) {
  const bool has_room = purpose.bucket == 0 || purpose.bucket == token_capacity(vectors.net.fields);
  const bool alone = purpose.training && !vectors.closing.meets();
  const std::int64_t samples = alone ? purpose.local : purpose.samples;
  if (purpose.training && has_room && samples == vectors.net.graph.shape(vectors.net.input)[0])
    return vectors.net;
  NetInput input = spec.input;
  if (!has_room) input.fields = with_capacity(input.fields, purpose.bucket);
  input.batch = samples;
  input.training = purpose.training;
  return spec.build(input);
}

// Those of `names` that are passes of the back end; the others are rewrites.
std::set<std::string> passes_of(const std::set<std::string>& names) {
  std::set<std::string> found;
  for (const Pass& pass : passes())
    if (names.count(pass.name) > 0) found.insert(pass.name);
  return found;
}

// Where the host can't reach the memory of the device, ranks don't work on each other's buffers.
StepSpec reachable(StepSpec spec, const Device& device) {
  if (!device.host) spec.facts.shared_memory = false;
  return spec;
}

}  // namespace

Compiled compile_step(const StepSpec& spec, const VectorPlan& vectors, const KernelTable& kernels,
                      const Purpose& purpose, int rank) {
  if (purpose.training && spec.selection.precision == "int8")
    throw Error(
        "kernels.precision = \"int8\" is for tutti eval and tutti predict; train with f32, bf16 or "
        "fp16");
  require_may_be_left_out(spec.without);
  const Net net = net_of(spec, vectors, purpose);
  StepClosing closing = vectors.closing;
  closing.rank = rank;
  CompileContext context{spec, vectors, closing, purpose, net};
  const NodeSeconds seconds =
      spec.calibration ? node_seconds(kernels, *spec.calibration) : NodeSeconds(usual_seconds);
  const Backend backend = backend_of(kernels, spec.selection);
  const std::int64_t limit = purpose.training && spec.memory.limit_bytes > 0
                                 ? spec.memory.limit_bytes
                                 : std::numeric_limits<std::int64_t>::max();
  Graph differentiated = net.graph;
  PassRunner until_there(passes_of(spec.without));
  std::vector<RecomputePlan> plans(1);
  if (purpose.training) {
    const Rewrite autodiff = rewrites().find("autodiff");
    until_there.run(autodiff.name, differentiated, [&] { autodiff.run(differentiated, context); });
    context.cells = cells_of(differentiated, static_cast<int>(net.graph.nodes.size()), seconds);
    plans = plans_for(spec.memory, context.cells);
  }
  std::optional<Attempt> fitting;
  std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
  cheapest_that_fits(context.cells, plans, limit, [&](std::size_t k) {
    context.plan = plans[k];
    PassRunner runner = until_there;
    Graph graph = differentiated;
    for (const Rewrite& rewrite : rewrites())
      if (rewrite.name != "autodiff" && rewrite.wanted(context) &&
          spec.without.count(rewrite.name) == 0)
        runner.run(rewrite.name, graph, [&] { rewrite.run(graph, context); });
    PassContext fitted{.backend = backend};
    runner.run_all(graph, fitted);
    const std::int64_t bytes = vectors.most_bytes + fitted.memory.arena_bytes;
    least_bytes = std::min(least_bytes, bytes);
    if (bytes <= limit)
      fitting = {k, std::move(graph), std::move(fitted.memory), runner.reports(), bytes};
    return bytes;
  });
  if (!fitting)
    throw Error(
        "a step needs {:.1f} MB when as much as possible is computed again, but memory.limit "
        "allows {:.1f} MB; reduce train.batch, or use more ranks",
        static_cast<double>(least_bytes) * 1e-6, static_cast<double>(limit) * 1e-6);
  MessageOptions messages = spec.messages;
  // With one copy of w the direct allgather copies nothing.
  if (closing.common_weights) messages.allgather = "direct";
  TransportFacts facts = spec.facts;
  facts.rank = rank;
  Compiled result{.step = compiled(std::move(fitting->graph), std::move(fitting->memory), kernels,
                                   messages, spec.mesh, facts),
                  .passes = std::move(fitting->passes)};
  if (purpose.training)
    result.memory =
        report_of(differentiated, context.cells, plans[fitting->plan], seconds, fitting->bytes);
  return result;
}

CompiledStep compile_service(const StepSpec& spec, const VectorPlan& vectors,
                             const KernelTable& kernels, int worker) {
  Graph graph = service_of(vectors.table(), spec.input.dtype, vectors.closing, worker,
                           bad_step_offset, square_sum_offset);
  PassRunner runner(passes_of(spec.without));
  PassContext fitted{.backend = backend_of(kernels, spec.selection)};
  runner.run_all(graph, fitted);
  MessageOptions messages = spec.messages;
  messages.across_steps = false;
  return compiled(std::move(graph), std::move(fitted.memory), kernels, messages, spec.mesh,
                  spec.facts);
}

std::vector<Role> roles_of(const std::vector<Purpose>& of_ranks) {
  std::vector<Role> roles;
  std::map<Purpose, std::size_t> numbers;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    const auto [found, is_new] = numbers.try_emplace(of_ranks[rank], roles.size());
    if (is_new) roles.push_back({of_ranks[rank]});
    roles[found->second].ranks.push_back(static_cast<int>(rank));
  }
  return roles;
}

CompiledStep StepCompiler::bound(CompiledStep step) const {
  bind(step.graph, vectors_.first_numbers, vectors_.numbers);
  step.facts.rank = spec_.facts.rank;
  return step;
}

StepCompiler::StepCompiler(StepSpec spec)
    : kernels_(kernels_named(spec.backend, spec.facts.rank)),
      spec_(reachable(std::move(spec), *kernels_.device)),
      vectors_(plan_vectors(spec_)) {
  if (kernels_.prepare != nullptr)
    kernels_.prepare(spec_.threads, spec_.facts.rank, spec_.facts.size);
}

}  // namespace tutti
