// SPDX-License-Identifier: Apache-2.0
// What is simulated is what runs: the executor on the transport `sim`, with values and with given
// seconds, against ranks without values. Equal order, equal times, for random graphs and schemes.
#include "tutti/comm/sim/sim.h"
#include "tutti/cost/simulate.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/add.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/send_recv.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/memory.h"
#include "tutti/train/replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti {
namespace {

// Draws that depend on the seed only.
class Draw {
 public:
  explicit Draw(int seed) : engine_(static_cast<std::uint32_t>(seed)) {}
  int below(int end) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(end)); }
  bool coin() { return below(2) == 1; }
  double unit() { return (engine_() + 0.5) / 4294967296.0; }
  template <class T>
  T one_of(std::vector<T> values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  std::mt19937 engine_;
};

sim::SimulatedMachine machine_of(Draw& draw, int ranks) {
  const auto link = [&](double scale) {
    LinkCost cost{1e-5 * scale * draw.unit(), 1e-7 * scale * draw.unit(),
                  draw.coin() ? 1e-8 * draw.unit() : 0};
    if (draw.coin()) cost.handling_seconds_per_byte = 1e-8 * draw.unit();
    return cost;
  };
  sim::SimulatedMachine machine;
  const LinkCost across = link(1), within = link(0.1);
  machine.network = Network(across, within, draw.one_of<int>({1, 2, ranks}));
  machine.law.jitter = draw.coin() ? 0.3 : 0;
  machine.law.seed = static_cast<std::uint64_t>(draw.below(1000));
  if (draw.coin()) machine.law.slow[draw.below(ranks)] = 1 + 3 * draw.unit();
  return machine;
}

// Some nodes take no time at all.
std::vector<double> seconds_of(const CompiledStep& step, int seed) {
  Draw draw(seed + 12345);
  std::vector<double> seconds;
  for (int i = 0; i < step.size(); ++i)
    seconds.push_back(step.is_message(i) || draw.below(5) == 0 ? 0 : 2e-5 * draw.unit());
  return seconds;
}

struct Done {
  int rank = 0;
  double start = 0, seconds = 0;
  std::string name;
  auto operator<=>(const Done&) const = default;
};

// What ranks computed when.
std::vector<Done> computing(const TraceEvents& trace) {
  std::vector<Done> done;
  for (const TraceEvent& event : trace)
    if (event.stream == TraceEvent::compute && event.seconds > 0 &&
        event.name.rfind("wait for ", 0) != 0)
      done.push_back({event.rank, event.start, event.seconds, event.name});
  std::stable_sort(done.begin(), done.end(), [](const Done& a, const Done& b) {
    return std::tie(a.rank, a.start) < std::tie(b.rank, b.start);
  });
  return done;
}

// Computing that messages have made longer is traced with what it took here, and without there.
void expect_equal(const TraceEvents& run, const TraceEvents& simulated, int seed) {
  const std::vector<Done> a = computing(run), b = computing(simulated);
  ASSERT_EQ(a.size(), b.size()) << "seed " << seed;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].name, b[i].name)
        << "seed " << seed << ", rank " << a[i].rank << " at " << a[i].start;
    ASSERT_NEAR(a[i].start, b[i].start, 1e-12 + 1e-9 * a[i].start)
        << "seed " << seed << ", " << a[i].name << " of rank " << a[i].rank;
  }
}

// ---- training steps
// ------------------------------------------------------------------------------

struct DrawnScheme {
  StepSpec spec;
  List<Model> all_models = models();
  List<Rule> all_rules = rules();
  int ranks = 1, micro_batches = 1, steps = 3;
  std::int64_t samples = 0;  // of a micro-batch

  explicit DrawnScheme(Draw& draw) {
    ranks = 1 + draw.below(5);
    micro_batches = draw.below(4) == 0 ? 2 + draw.below(2) : 1;
    samples = ranks * (1 + draw.below(3)) + draw.below(2);
    Shape hidden;
    for (int k = 1 + draw.below(4); k > 0; --k) hidden.push_back(3 + draw.below(40));
    spec.build = [this, hidden](const NetInput& input) {
      return build_net(all_models.find("mlp"), {{"hidden", hidden}}, input);
    };
    spec.input = {.fields = input_and_labels({7}), .classes = 3};
    spec.backend = "reference";
    const std::string rule = draw.one_of<std::string>({"sgd", "momentum", "adam", "lars"});
    StepClosing& closing = spec.closing;
    closing.update.rule = &all_rules.find(rule);
    closing.update.rule_settings = resolve(closing.update.rule->settings, {}, rule);
    const bool shard = draw.coin(), weights = shard && draw.coin();
    closing.scheme.store = stores().find(weights ? "sharded_weights" : shard ? "sharded" : "all");
    closing.accumulates = micro_batches > 1;
    if (draw.below(4) == 0) closing.scheme.codec = codecs().find("bf16");
    closing.update.clip_norm = draw.below(4) == 0 ? 0.1 : 0;
    closing.scheme.block_bytes = draw.one_of<std::int64_t>({1, 64, 256, 4096});
    spec.messages.overlap = draw.below(5) != 0;
    spec.messages.fixed_order = draw.coin();
    if (draw.coin()) spec.messages.across_steps = draw.coin();
    closing.scheme.payload =
        payloads().find(draw.one_of<std::string>({"gradient", "factors", "auto"}));
    spec.batch = samples * micro_batches;
    spec.mesh = data_mesh(ranks);
  }

  std::int64_t local(int rank) const { return samples / ranks + (rank < samples % ranks ? 1 : 0); }
  Accumulation accumulation(int k) const { return {k > 0, k + 1 == micro_batches}; }
};

void run_rank(const DrawnScheme& scheme, Communicator& communicator, int seed, TraceEvents& trace) {
  ReplicaOptions options{scheme.spec, &communicator,
                         [&](const CompiledStep& step) { return seconds_of(step, seed); }};
  Replica replica(options);
  replica.initialise(1);
  const std::int64_t local = scheme.local(communicator.rank());
  const std::vector<float> x(static_cast<std::size_t>(7 * local), 0.3f);
  const std::vector<float> weights(static_cast<std::size_t>(local), 0.1f);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(local), 1);
  Profile profile;
  profile.trace = &trace;
  for (int step = 0; step < scheme.steps; ++step)
    for (int k = 0; k < scheme.micro_batches; ++k)
      replica.step({scheme.samples,
                    local,
                    {x.data(), labels.data(), weights.data()},
                    scheme.accumulation(k)},
                   {.step = step, .key = 1, .rate = 0.01}, &profile, step + 1 < scheme.steps);
}

TraceEvents simulate(const DrawnScheme& scheme, const sim::SimulatedMachine& machine, int seed) {
  std::vector<std::vector<CompiledStep>> steps(static_cast<std::size_t>(scheme.ranks));
  std::vector<SimulatedRole> roles(steps.size());
  std::vector<int> role_of;
  for (int rank = 0; rank < scheme.ranks; ++rank) {
    StepSpec spec = scheme.spec;
    spec.facts = {.rank = rank, .size = scheme.ranks, .network = machine.network};
    const StepCompiler compiler(spec);
    auto& own = steps[static_cast<std::size_t>(rank)];
    for (int k = 0; k < scheme.micro_batches; ++k)
      own.push_back(
          compiler.compile({true, scheme.samples, scheme.local(rank), scheme.accumulation(k)})
              .step);
    for (const CompiledStep& step : own)
      roles[static_cast<std::size_t>(rank)].micro_batches.push_back(
          {&step, seconds_of(step, seed)});
    role_of.push_back(rank);
  }
  TraceEvents trace;
  simulate_steps(roles, role_of,
                 {.law = machine.law, .steps = scheme.steps, .trace = &trace, .traced_ranks = 99});
  return trace;
}

TEST(SameWalk, OfTrainingSteps) {
  for (int seed = 0; seed < 150; ++seed) {
    Draw draw(seed);
    const DrawnScheme scheme(draw);
    const sim::SimulatedMachine machine = machine_of(draw, scheme.ranks);
    std::vector<TraceEvents> traces(static_cast<std::size_t>(scheme.ranks));
    sim::run_simulated_ranks(scheme.ranks, machine, [&](Communicator& communicator) {
      run_rank(scheme, communicator, seed, traces[static_cast<std::size_t>(communicator.rank())]);
    });
    TraceEvents all;
    for (const TraceEvents& own : traces) all.insert(all.end(), own.begin(), own.end());
    expect_equal(all, simulate(scheme, machine, seed), seed);
    if (HasFatalFailure()) return;
  }
}

// ---- graphs with groups and single messages
// ------------------------------------------------------

// The graph of a rank; all draw the same, but for peers, which depend on the rank's place.
Graph random_graph(int seed, const Mesh& mesh, int rank) {
  Draw draw(seed);
  Graph graph;
  std::vector<ValueId> made = {
      graph.add_value("x", {DType::f32, {16 * (1 + draw.below(40))}}, {Base::inputs, 0})};
  const Shape shape = graph.shape(made[0]);
  const int nodes = 5 + draw.below(25);
  for (int k = 0; k < nodes; ++k) {
    const ValueId a = draw.one_of(made), b = draw.one_of(made);
    const std::string axes = draw.one_of<std::string>({"stage", "data", "stage data"});
    const int kind = draw.below(5);
    graph.scope = fmt::format("node {}", k);
    if (kind == 0) made.push_back(graph.add1(ops::allreduce, {a}, {{"axes", axes}}));
    if (kind == 1) {
      const std::string axis = draw.coin() ? "stage" : "data", name = fmt::format("message {}", k);
      const int size = mesh.size(axis), place = mesh.coordinate(rank, axis);
      if (size == 1) continue;
      graph.add(ops::send, {a}, {{"axes", axis}, {"to", (place + 1) % size}, {"message", name}});
      made.push_back(graph.add1(ops::recv, {},
                                {{"axes", axis},
                                 {"from", (place + size - 1) % size},
                                 {"message", name},
                                 {"shape", shape}}));
    }
    if (kind == 2) made.push_back(graph.add1(ops::add, {a, b}));
    if (kind > 2) made.push_back(graph.add1(ops::scale, {a}, {{"factor", 0.5}}));
  }
  graph.scope.clear();
  for (const ValueId value : made) graph.outputs.push_back(value);
  const ValueId last = graph.add1(ops::scale, {made.back()}, {{"factor", 1.0}});
  graph.value(last).place = {Base::results, 0};
  return graph;
}

TEST(SameWalk, OfGroupsAndSingleMessages) {
  const KernelTable kernels = kernels_named("reference");
  const Backend backend = backend_of(kernels);
  const List<Rule> all_rules = rules();
  constexpr int steps = 3;
  for (int seed = 1000; seed < 1060; ++seed) {
    Draw draw(seed + 7);
    const Mesh mesh({{"stage", 1 + draw.below(3)}, {"data", 1 + draw.below(3)}});
    const int ranks = mesh.ranks();
    const sim::SimulatedMachine machine = machine_of(draw, ranks);
    const MessageOptions messages{};  // without overlap, ranks that send to each other would wait
    std::vector<CompiledStep> compiled_steps;
    for (int rank = 0; rank < ranks; ++rank) {
      Graph graph = random_graph(seed, mesh, rank);
      MemoryPlan memory = plan_memory(graph, backend);
      compiled_steps.push_back(compiled(std::move(graph), std::move(memory), kernels, messages,
                                        mesh,
                                        {.rank = rank, .size = ranks, .network = machine.network}));
    }
    std::vector<SimulatedRole> roles;
    std::vector<int> role_of;
    for (const CompiledStep& step : compiled_steps) {
      role_of.push_back(static_cast<int>(roles.size()));
      roles.push_back({{{&step, seconds_of(step, seed)}}});
    }
    TraceEvents simulated;
    simulate_steps(roles, role_of,
                   {.law = machine.law, .steps = steps, .trace = &simulated, .traced_ranks = 99});
    std::vector<TraceEvents> traces(roles.size());
    sim::run_simulated_ranks(ranks, machine, [&](Communicator& communicator) {
      const auto own = static_cast<std::size_t>(communicator.rank());
      Program program(compiled_steps[own], kernels, {.threads = 1, .rules = &all_rules},
                      &communicator);
      program.set_seconds(roles[own].micro_batches[0].seconds);
      std::vector<float> x(1000, 1), result(1000);
      std::vector<std::byte> arena(static_cast<std::size_t>(program.memory().arena_bytes) + 1);
      Bases bases;
      bases[Base::inputs] = reinterpret_cast<std::byte*>(x.data());
      bases[Base::results] = reinterpret_cast<std::byte*>(result.data());
      bases[Base::arena] = arena.data();
      Profile profile;
      profile.trace = &traces[own];
      for (int step = 0; step < steps; ++step) program.run(bases, {}, &profile);
    });
    TraceEvents all;
    for (const TraceEvents& own : traces) all.insert(all.end(), own.begin(), own.end());
    expect_equal(all, simulated, seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tutti
