// SPDX-License-Identifier: Apache-2.0
#include "bench/simulation.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/cost/predict.h"
#include "tutti/cost/simulate.h"
#include "tutti/parallel/partition.h"

#include "bench/prediction.h"
#include "bench/time_operator.h"
#include "bench/workload.h"

#include <atomic>

namespace tutti::bench {
namespace {

constexpr int ranks = 2;

// Steps of all ranks; rank 0's times count.
struct Measured {
  std::vector<double> ms;
  StepSimulation simulated;
  double predicted_ms = 0;  // without messages
};

void run_rank(const Workload& workload, const Calibration& calibration, double enough_ms,
              Communicator& communicator, std::atomic<int>& last, Measured& measured) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  ReplicaOptions options = replica_options(workload, all_models, all_rules, 1);
  options.communicator = &communicator;
  options.mesh = data_mesh(communicator.size());
  options.closing.scheme.store = stores().find("sharded");
  Replica replica(options);
  replica.initialise(1);
  const Batch batch = batch_of(workload, communicator.rank(), ranks);
  const Program& program = replica.training_program(batch.pointers.samples, batch.pointers.local);
  const bool speaks = communicator.rank() == 0;
  if (speaks) {
    const StepPrediction predicted = predict_step(program.compiled(), calibration);
    measured.predicted_ms = 1e3 * predicted.total;
    measured.simulated = simulate_step(program.compiled(), predicted.seconds, {});
  }
  const double began = now_ms();
  for (int k = 0; last.load() != k - 1; ++k) {
    communicator.barrier();
    const double started = now_ms();
    // Said before the step in which ranks meet, so that they agree on the last one.
    if (speaks && k >= 5 && started - began > enough_ms) last = k;
    replica.step(batch.pointers, {.step = k, .key = 1, .rate = 1e-3});
    if (speaks && k > 0) measured.ms.push_back(now_ms() - started);
  }
}

double bench_step(const Options& options, const Workload& workload, const Calibration& calibration,
                  const std::string& name, Records& records) {
  Measured measured;
  std::atomic<int> last{-2};
  run_ranks(ranks, [&](Communicator& communicator) {
    run_rank(workload, calibration, options.quick ? 300 : 3000, communicator, last, measured);
  });
  const Spread spread = spread_of(measured.ms);
  const double simulated_ms = 1e3 * measured.simulated.step_seconds;
  const double ratio = simulated_ms / spread.min;
  records.note({{"name", name},
                {"simulated_ms", simulated_ms},
                {"computing_ms", measured.predicted_ms},
                {"measured_ms", spread.min},
                {"median_ms", spread.median},
                {"ratio", ratio},
                {"ratio_to_median", simulated_ms / spread.median}});
  return ratio;
}

}  // namespace

void bench_simulation(const Options& options, Records& records) {
  if (!options.wants("simulation") && options.filter.rfind("simulation", 0) != 0) return;
  Options one = options;
  one.threads = {1};
  const Machine machine = machine_for(one);
  std::vector<double> ratios;
  for (Workload workload : workloads()) {
    if (workload.name != "mlp" && workload.name != "lenet" && workload.name != "resnet20") continue;
    for (const std::int64_t batch : {32, 64, 128}) {
      workload.batch = batch;
      const std::string name =
          fmt::format("simulation/{} b{}/{} ranks × 1 thread", workload.name, batch, ranks);
      if (options.wants(name))
        ratios.push_back(bench_step(options, workload, *machine.with_threads(1), name, records));
    }
  }
  if (ratios.empty()) return;
  const Spread spread = spread_of(ratios);
  records.note({{"name", "simulation/steps"},
                {"cases", ratios.size()},
                {"least_ratio", spread.min},
                {"median_ratio", spread.median},
                {"largest_ratio", *std::max_element(ratios.begin(), ratios.end())}});
}

}  // namespace tutti::bench
