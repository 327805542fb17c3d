// SPDX-License-Identifier: Apache-2.0
#include "bench/compile.h"

#include "tutti/comm/sim/planned_rank.h"
#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"
#include "tutti/train/replica.h"

#include <memory>

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

void check_program(const Program& program, std::int64_t nodes, const std::string& name) {
  verify(program.graph(), name);
  const MemoryPlan& memory = program.memory();
  if (memory.live_bytes <= 0 || memory.arena_bytes < memory.live_bytes)
    throw Error("{}: {} bytes are in use at once, but the arena has {}", name, memory.live_bytes,
                memory.arena_bytes);
  if (program.size() < nodes / 2 || program.size() > 2 * nodes)
    throw Error("{}: the step has {} nodes, expected about {}", name, program.size(), nodes);
}

void bench_step(const Options& options, std::int64_t nodes, int ranks, const std::string& name,
                Records& records) {
  const List<Rule> all_rules = rules();
  const List<Layer> all_layers = layers();
  const std::vector<Settings> tables = chain(nodes);
  ReplicaOptions step;
  step.build = [&](const NetInput& input) { return build_net(all_layers, tables, input); };
  step.input = {.sample_shape = {width}, .classes = classes};
  step.batch = batch;
  step.closing.rule = &all_rules.find("momentum");
  step.closing.rule_settings = resolve(step.closing.rule->settings, {}, "momentum");
  step.closing.shard = true;
  const auto rank = sim::planned_rank(0, ranks, LinkCost{1e-5, 1e-9, 1e-10});
  if (ranks > 1) step.messages.communicator = rank.get();
  std::vector<double> ms;
  nlohmann::ordered_json facts;
  const double began = now_ms();
  for (int k = 0; k < (options.quick ? 1 : 3) && (k == 0 || now_ms() - began < 10'000); ++k) {
    const double started = now_ms();
    Replica replica(step);
    const Program program = replica.planned_program(batch, batch / ranks);
    ms.push_back(now_ms() - started);
    check_program(program, nodes, name);
    nlohmann::ordered_json passes;
    for (const PassReport& pass : replica.pass_reports()) passes[pass.name] = 1e3 * pass.seconds;
    facts = {{"nodes", program.size()},
             {"us_per_node", 1e3 * ms.back() / program.size()},
             {"arena_bytes", program.memory().arena_bytes},
             {"live_bytes", program.memory().live_bytes},
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
