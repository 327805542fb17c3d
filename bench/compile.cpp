// SPDX-License-Identifier: Apache-2.0
#include "bench/compile.h"

#include "tutti/compile/compile_step.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"
#include "tutti/parallel/partition.h"

namespace tutti::bench {
namespace {

constexpr std::int64_t batch = 64, width = 16, classes = 10;

// Linear layers with ReLU between them. Each pair makes about five nodes of a compiled step.
std::vector<Settings> chain(std::int64_t nodes) {
  std::vector<Settings> tables;
  for (std::int64_t k = 0; k < nodes / 5; ++k) {
    tables.push_back({{"type", "linear"}, {"units", width}});
    tables.push_back({{"type", "relu"}});
  }
  tables.push_back({{"type", "linear"}, {"units", classes}});
  return tables;
}

void check_step(const CompiledStep& step, std::int64_t nodes, const std::string& name) {
  verify(step.graph, name);
  const MemoryPlan& memory = step.memory;
  if (memory.live_bytes <= 0 || memory.arena_bytes < memory.live_bytes)
    throw Error("{}: {} bytes are in use at once, but the arena has {}", name, memory.live_bytes,
                memory.arena_bytes);
  if (step.size() < nodes / 2 || step.size() > 2 * nodes)
    throw Error("{}: the step has {} nodes, expected about {}", name, step.size(), nodes);
}

void bench_step(const Options& options, std::int64_t nodes, int ranks, const std::string& name,
                Records& records) {
  const List<Rule> all_rules = rules();
  const List<Layer> all_layers = layers();
  const std::vector<Settings> tables = chain(nodes);
  StepSpec spec;
  spec.build = [&](const NetInput& input) { return build_net(all_layers, tables, input); };
  spec.input = {.fields = input_and_labels({width}), .classes = classes};
  spec.batch = batch;
  spec.closing.update.rule = &all_rules.find("momentum");
  spec.closing.update.rule_settings = resolve(spec.closing.update.rule->settings, {}, "momentum");
  spec.closing.scheme.store = stores().find("sharded");
  spec.mesh = data_mesh(ranks);
  spec.facts = {.size = ranks, .network = LinkCost{1e-5, 1e-9, 1e-10}};
  std::vector<double> ms;
  nlohmann::ordered_json facts;
  const double began = now_ms();
  for (int k = 0; k < (options.quick ? 1 : 3) && (k == 0 || now_ms() - began < 10'000); ++k) {
    const double started = now_ms();
    const Compiled made = StepCompiler(spec).compile({true, batch, batch / ranks});
    ms.push_back(now_ms() - started);
    check_step(made.step, nodes, name);
    nlohmann::ordered_json passes;
    for (const PassReport& pass : made.passes) passes[pass.name] = 1e3 * pass.seconds;
    facts = {{"nodes", made.step.size()},
             {"us_per_node", 1e3 * ms.back() / made.step.size()},
             {"arena_bytes", made.step.memory.arena_bytes},
             {"live_bytes", made.step.memory.live_bytes},
             {"pass_ms", passes}};
  }
  records.time(name, spread_of(ms), {}, {}, 0, facts);
}

}  // namespace

void bench_compile(const Options& options, Records& records) {
  for (const int ranks : {1, 64})
    for (const std::int64_t nodes : {1'000, 10'000, 100'000}) {
      const std::string name =
          fmt::format("compile/{} nodes/{} rank{}", nodes, ranks, ranks == 1 ? "" : "s");
      if (options.quick && nodes > 10'000) continue;
      if (options.wants(name)) bench_step(options, nodes, ranks, name, records);
    }
}

}  // namespace tutti::bench
