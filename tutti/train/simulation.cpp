// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulation.h"

#include "tutti/comm/sim/planned_rank.h"
#include "tutti/cost/predict.h"
#include "tutti/train/block_size.h"

#include <sstream>

namespace tutti {
namespace {

// Of a machine that was not calibrated: what a core of these years does.
Calibration usual_speed(int threads) {
  constexpr double bytes_per_second = 2e10;
  Calibration usual;
  usual.multiply_adds_per_second = 5e10 * threads;
  usual.bytes_per_second = bytes_per_second;
  usual.fork_join_seconds = 1e-6;
  usual.stream = {{1 << 20, 1 / bytes_per_second}};
  return usual;
}

void add(StepSimulation& sum, const StepSimulation& pass, int passes) {
  sum.step_seconds += passes * pass.step_seconds;
  sum.compute_seconds += passes * pass.compute_seconds;
  sum.exposed_seconds += passes * pass.exposed_seconds;
  sum.longest_compute_seconds += passes * pass.longest_compute_seconds;
  sum.bytes_sent += passes * pass.bytes_sent;
  sum.messages += passes * pass.messages;
}

}  // namespace

std::map<int, double> slow_ranks(const std::string& text) {
  std::map<int, double> factors;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::istringstream in(word);
    int rank = 0;
    double factor = 0;
    char colon = 0;
    if (!(in >> rank >> colon >> factor) || !in.eof() || colon != ':' || rank < 0 || factor <= 0)
      throw Error("'slow' is \"{}\", expected ranks and factors, as in \"3:2.5 7:1.2\"", text);
    factors[rank] = factor;
  }
  return factors;
}

Network simulated_network(const Settings& simulation) {
  const double add = 1 / simulation.real("add_bandwidth");
  const double handled = simulation.real("core_bandwidth");
  LinkCost across{simulation.real("latency"), 1 / simulation.real("bandwidth"), add};
  across.handling_seconds_per_byte = handled == 0 ? 0 : 1 / handled;
  return {across,
          {simulation.real("node_latency"), 1 / simulation.real("node_bandwidth"), add},
          static_cast<int>(simulation.integer("node_ranks"))};
}

sim::ComputeLaw simulated_law(const Settings& simulation) {
  return {.slow = slow_ranks(simulation.text("slow")),
          .jitter = simulation.real("jitter"),
          .seed = static_cast<std::uint64_t>(simulation.integer("seed"))};
}

bool on_virtual_clock(const Job& job) { return job.table("machine").text("transport") == "sim"; }

sim::SimulatedMachine simulated_machine(const Settings& simulation) {
  return {.network = simulated_network(simulation),
          .law = simulated_law(simulation),
          .faults = sim::faults_named(simulation.text("faults"))};
}

std::function<std::vector<double>(const Program&)> virtual_seconds(const Job& job, int threads) {
  if (!on_virtual_clock(job)) return {};
  return [&job, calibration = known_speed(threads).calibration](const Program& program) {
    return simulated_seconds(program, calibration, job.table("simulation"));
  };
}

KnownSpeed known_speed(int threads) {
  const std::optional<Machine> machine = known_machine();
  const Calibration* calibration = machine ? machine->with_threads(threads) : nullptr;
  if (calibration == nullptr) return {usual_speed(threads)};
  return {*calibration, machine->date};
}

std::vector<double> simulated_seconds(const Program& program, const Calibration& calibration,
                                      const Settings& simulation) {
  std::vector<double> seconds = predict_step(program, calibration).seconds;
  for (double& own : seconds) own /= simulation.real("speed");
  return seconds;
}

SimulatedJob simulate_job(const Job& job, int steps, TraceEvents* trace) {
  const Settings& simulation = job.table("simulation");
  SimulatedJob result;
  result.ranks = job.ranks();
  result.threads = threads_per_rank(job, static_cast<int>(simulation.integer("node_ranks")));
  result.samples = job.table("train").integer("batch");
  // Rank 0 has a part of everything that is shared out, however short.
  const auto rank = sim::planned_rank(0, result.ranks, simulated_network(simulation));
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  ReplicaOptions options = replica_options(job, input, result.threads, rank.get());
  if (job.table("exchange").integer("block_bytes") == 0)
    options.closing.block_bytes = best_block_bytes(job, input, result.threads, *rank);
  result.block_bytes = options.closing.block_bytes;
  Replica replica(options);
  const KnownSpeed speed = known_speed(result.threads);
  result.calibrated = speed.date;
  const auto simulate = [&](const Program& program, TraceEvents* traced) {
    return simulate_step(program, simulated_seconds(program, speed.calibration, simulation),
                         {.law = simulated_law(simulation), .steps = steps, .trace = traced});
  };
  const LastPass last = last_pass(job);
  result.local = last.local;
  const Program program = replica.planned_program(last.samples, last.local, last.accumulation);
  for (int i = 0; i < program.size(); ++i)
    if (program.is_message(i))
      ++result.messages[fmt::format("{} by {}",
                                    program.graph().nodes[static_cast<std::size_t>(i)].op->name,
                                    program.implementation(i))];
  result.step = simulate(program, trace);
  if (last.before > 0)
    add(result.step,
        simulate(replica.planned_program(last.samples, last.local, {true, false}), nullptr),
        last.before);
  return result;
}

LastPass last_pass(const Job& job) {
  const Settings& train = job.table("train");
  const int passes = static_cast<int>(train.integer("accumulate"));
  const std::int64_t samples = data::share_of(train.integer("batch"), passes - 1, passes).count();
  return {.samples = samples,
          .local = data::share_of(samples, 0, job.ranks()).count(),
          .accumulation = {passes > 1, true},
          .before = passes - 1};
}

}  // namespace tutti
