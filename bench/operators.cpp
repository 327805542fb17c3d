// SPDX-License-Identifier: Apache-2.0
#include "bench/operators.h"

#include "tutti/kernels/backends.h"
#include "tutti/ops/operators.h"

#include "bench/round_trip.h"
#include "bench/time_operator.h"
#include "bench/workload.h"

#include <set>

namespace tutti::bench {
namespace {

using contract::Array;

// Sums of a thousand float products in another order differ by about √1000 · 6e-8; relative to the
// largest element.
constexpr double tolerance = 1e-4;

std::string text_of(const Graph& graph, const Node& node) {
  std::string text = node.op->name;
  for (const Type& type : graph.types(node.inputs))
    if (!(type == Type{})) text += " " + to_string(type.shape);
  if (node.settings.has("activation") && node.settings.text("activation") != "none")
    text += " " + node.settings.text("activation");
  if (node.settings.has("rule")) text += " " + node.settings.text("rule");
  return text;
}

std::vector<Array> inputs_of(const Graph& graph, const Node& node) {
  std::vector<Array> in;
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    in.push_back(node.inputs[k] == no_value
                     ? Array::none()
                     : contract::random_array(graph.type(node.inputs[k]), 10 + k));
  return in;
}

// Not worth a line.
bool is_small(const Work& work) { return work.flops < 1e5 && work.bytes < 1e5; }

void compare(const std::string& name, const std::vector<Array>& found,
             const std::vector<Array>& expected) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double error = contract::difference(found[k], expected[k]);
    if (!(error <= tolerance))
      throw Error("{}: output {} differs from the reference by {:.2g}, expected at most {:.2g}",
                  name, k, error, tolerance);
  }
}

void bench_node(const Options& options, const Peaks& peaks, Records& records, const Graph& graph,
                const Node& node, const std::string& name) {
  const KernelTable reference = reference_kernels(), cpu = cpu_kernels();
  const StepState step{.step = 1, .key = 1, .rate = 0.1};
  const std::vector<Array> in = inputs_of(graph, node);
  contract::OneNode expected(*node.op, node.settings, in, reference);
  expected.run(step);
  for (const int threads : options.threads) {
    cpu.prepare(threads, 0, 1);
    contract::OneNode fast(*node.op, node.settings, in, cpu, threads);
    fast.run(step);
    compare(name, fast.outputs(), expected.outputs());
    const Spread ms = time_operator(fast, options.repeats, options.round_ms());
    records.time(fmt::format("{}/{}", name, threads_text(threads)), ms, work_of(fast),
                 peaks.at(threads), round_trip_ns(),
                 {{"kernel", fast.program().implementation(fast.step())}});
  }
}

}  // namespace

void bench_operators(const Options& options, const Peaks& peaks, Records& records) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  std::set<std::string> seen;
  for (const Workload& workload : workloads()) {
    if (workload.bf16()) continue;
    ReplicaOptions settings = replica_options(workload, all_models, all_rules, 1);
    settings.backend = "reference";  // the graph as the passes leave it, before layouts
    Replica replica(settings);
    const Graph& graph = replica.training_program(workload.batch, workload.batch).graph();
    for (const Node& node : graph.nodes) {
      const std::string name = "operator/" + text_of(graph, node);
      if (node.op->view || is_small(work_of(graph, node)) || !options.wants(name) ||
          !seen.insert(name).second)
        continue;
      bench_node(options, peaks, records, graph, node, name);
    }
  }
}

}  // namespace tutti::bench
