// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/compile_step.h"

#include "tutti/cost/predict.h"
#include "tutti/exchange/gather_weights.h"
#include "tutti/exchange/stop_word.h"
#include "tutti/kernels/backends.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/accumulate.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/recompute.h"
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

// All of them, as operators name axes.
std::string axes_of(const Mesh& mesh) {
  std::string axes;
  for (const MeshAxis& axis : mesh.axes()) axes += (axes.empty() ? "" : " ") + axis.name;
  return axes;
}

// A rewrite that a spec asks for or not, with what it needs.
struct Rewrite {
  const char* name;
  bool wanted;
  std::function<void(Graph&)> run;
};

// Those between recompute and the passes of the back end, in their order.
std::vector<Rewrite> rewrites(const StepSpec& spec, const VectorPlan& vectors,
                              const StepClosing& closing, const Purpose& purpose) {
  const DType dtype = spec.input.dtype;
  const bool even = purpose.local * closing.ranks == purpose.samples;
  return {{"partition", closing.ranks > 1,
           [&](Graph& graph) { partition_samples(graph, purpose.samples, purpose.local); }},
          {"gather", closing.shards_weights(),
           [&, dtype](Graph& graph) {
             remove_dead_code(graph);  // for which nothing must be gathered
             gather_weights(graph, vectors.table(), dtype, closing, data_axis);
           }},
          {"accumulate", purpose.training && purpose.accumulation.adds,
           [](Graph& graph) { accumulate_gradients(graph); }},
          {"factors", purpose.training && !closing.factored.empty() && even,
           [&, dtype](Graph& graph) {
             exchange_factors(
                 graph, vectors.table(), dtype, closing, data_axis,
                 [&](const LinearRange& layer) { return vectors.factors->pays(layer, dtype); });
           }},
          {"exchange", purpose.training && purpose.accumulation.closes,
           [&, dtype](Graph& graph) {
             close_step(graph, vectors.table(), dtype, closing, square_sum_offset);
           }},
          {"stop word", closing.ranks > 1 && purpose.training && purpose.accumulation.closes,
           [&](Graph& graph) { add_stop_word(graph, axes_of(spec.mesh), stop_word_offset); }}};
}

// A graph to which a plan of recomputation was applied, compiled to the end.
struct Attempt {
  std::size_t plan = 0;
  Graph graph;
  MemoryPlan memory;
  std::vector<PassReport> passes;
  std::int64_t bytes = 0;
};

}  // namespace

Compiled compile_step(const StepSpec& spec, const VectorPlan& vectors, const KernelTable& kernels,
                      const Purpose& purpose, int rank) {
  if (purpose.training && spec.selection.precision == "int8")
    throw Error(
        "kernels.precision = \"int8\" is for tutti eval and tutti predict; train with f32, bf16 or "
        "fp16");
  NetInput input = spec.input;
  input.batch = purpose.samples;
  input.training = purpose.training;
  Net net = spec.build(input);
  const int forward_nodes = static_cast<int>(net.graph.nodes.size());
  const NodeSeconds seconds =
      spec.calibration ? node_seconds(kernels, *spec.calibration) : NodeSeconds(usual_seconds);
  PassRunner differentiated(spec.without);
  std::vector<Cell> cells;
  std::vector<RecomputePlan> plans(1);
  if (purpose.training) {
    differentiated.run("autodiff", net.graph,
                       [&] { differentiate(net.graph, net.loss, net.table, net.parameters); });
    cells = cells_of(net.graph, forward_nodes, seconds);
    plans = plans_for(spec.memory, cells);
  }
  const Backend backend = backend_of(kernels, spec.selection);
  StepClosing closing = vectors.closing;
  closing.rank = rank;
  const std::int64_t limit = purpose.training && spec.memory.limit_bytes > 0
                                 ? spec.memory.limit_bytes
                                 : std::numeric_limits<std::int64_t>::max();
  std::optional<Attempt> fitting;
  std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
  cheapest_that_fits(cells, plans, limit, [&](std::size_t k) {
    PassRunner runner = differentiated;
    Graph graph = net.graph;
    PassContext context{.backend = backend};
    if (!plans[k].runs.empty())
      runner.run("recompute", graph, [&] { recompute(graph, cells, plans[k]); });
    for (const Rewrite& rewrite : rewrites(spec, vectors, closing, purpose))
      if (rewrite.wanted) runner.run(rewrite.name, graph, [&] { rewrite.run(graph); });
    runner.run_all(graph, context);
    const std::int64_t bytes = vectors.most_bytes + context.memory.arena_bytes;
    least_bytes = std::min(least_bytes, bytes);
    if (bytes <= limit)
      fitting = {k, std::move(graph), std::move(context.memory), runner.reports(), bytes};
    return bytes;
  });
  if (!fitting)
    throw Error(
        "a step needs {:.1f} MB when as much as possible is computed again, but memory.limit "
        "allows {:.1f} MB; reduce train.batch, or use more ranks",
        static_cast<double>(least_bytes) * 1e-6, static_cast<double>(limit) * 1e-6);
  MessageOptions messages = spec.messages;
  if (vectors.common_weights) messages.allgather = "direct";  // which then copies nothing
  TransportFacts facts = spec.facts;
  facts.rank = rank;
  Compiled result{.step = compiled(std::move(fitting->graph), std::move(fitting->memory), kernels,
                                   messages, spec.mesh, facts),
                  .passes = std::move(fitting->passes)};
  if (purpose.training)
    result.memory = report_of(net.graph, cells, plans[fitting->plan], seconds, fitting->bytes);
  return result;
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
    : spec_(std::move(spec)),
      kernels_(kernels_named(spec_.backend)),
      vectors_(plan_vectors(spec_)) {
  if (kernels_.prepare != nullptr)
    kernels_.prepare(spec_.threads, spec_.facts.rank, spec_.facts.size);
}

}  // namespace tutti
