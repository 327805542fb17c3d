// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/pass.h"

#include "tutti/graph/verify.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/fuse.h"
#include "tutti/passes/layout.h"
#include "tutti/passes/micro_batches.h"
#include "tutti/passes/precision.h"
#include "tutti/passes/quantise.h"
#include "tutti/passes/variants.h"

#include <chrono>

namespace tutti {

List<Pass> passes() {
  return {
      "pass",
      {{.name = "dead_code",
        .doc = "removes nodes that nothing needs",
        .run = [](Graph& graph, PassContext&) { remove_dead_code(graph); }},
       {.name = "precision",
        .doc = "in which precision products multiply, activations are stored (kernels.precision)",
        .run = [](Graph& graph,
                  PassContext& context) { choose_precision(graph, context.backend); }},
       {.name = "micro_batches",
        .doc = "cuts convolutions over the batch where that is faster within kernels.workspace",
        .run = [](Graph& graph, PassContext& context) { micro_batch(graph, context.backend); }},
       {.name = "variants",
        .doc = "chooses how each convolution is computed",
        .run = [](Graph& graph, PassContext& context) { choose_variants(graph, context.backend); }},
       {.name = "fuse",
        .doc = "folds bias, residual addition and activation into the product before them",
        .run = [](Graph& graph, PassContext& context) { fuse(graph, context.backend); }},
       {.name = "quantise",
        .doc = "multiplies 8-bit integers where a product reads weights (kernels.precision = int8)",
        .run = [](Graph& graph, PassContext& context) { quantise(graph, context.backend); }},
       {.name = "layout",
        .doc = "keeps activations in the layout the kernels want; reorders become nodes",
        .run = [](Graph& graph, PassContext& context) { assign_layouts(graph, context.backend); }},
       {.name = "memory",
        .doc = "plans one arena from liveness, overwriting in place where legal",
        .run = [](Graph& graph,
                  PassContext& context) { context.memory = plan_memory(graph, context.backend); },
        .skipped =
            [](Graph& graph, PassContext& context) {
              context.memory = plan_memory(graph, context.backend, /*reuse=*/false);
            }}}};
}

PassRunner::PassRunner(std::set<std::string> without) : without_(std::move(without)) {
  const List<Pass> all = passes();
  for (const std::string& name : without_) all.find(name);
}

void PassRunner::run(const std::string& name, Graph& graph, const std::function<void()>& step) {
  PassReport report{.name = name, .nodes_before = static_cast<int>(graph.nodes.size())};
  const auto start = std::chrono::steady_clock::now();
  step();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.nodes_after = static_cast<int>(graph.nodes.size());
  reports_.push_back(report);
  verify(graph, name);
}

void PassRunner::run_all(Graph& graph, PassContext& context) {
  for (const Pass& pass : passes()) {
    const bool off = without_.count(pass.name) > 0;
    if (off && pass.skipped == nullptr) continue;
    run(pass.name, graph, [&] { (off ? pass.skipped : pass.run)(graph, context); });
  }
}

}  // namespace tutti
