// SPDX-License-Identifier: Apache-2.0
#include "bench/prediction.h"

#include "tutti/core/cores.h"
#include "tutti/cost/calibrate.h"
#include "tutti/cost/node_timer.h"
#include "tutti/cost/predict.h"
#include "tutti/cost/probes.h"
#include "tutti/data/sampler.h"
#include "tutti/graph/cost.h"
#include "tutti/kernels/backends.h"

#include "bench/time_operator.h"
#include "bench/workload.h"

#include <map>

namespace tutti::bench {
namespace {

double error_of(double predicted, double measured) { return predicted / measured - 1; }

// Median and largest of the sizes of errors.
void note_errors(Records& records, const std::string& name, std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  if (errors.empty()) return;
  records.note({{"name", name},
                {"cases", errors.size()},
                {"median_error", spread_of(errors).median},
                {"largest_error", *std::max_element(errors.begin(), errors.end())}});
}

// K06: forward products between the sizes of the calibration.
void bench_products(const Options& options, const Machine& machine, int threads, Records& records) {
  const std::string name = fmt::format("prediction/products/{}", threads_text(threads));
  if (!options.wants(name)) return;
  const KernelTable kernels = cpu_kernels();
  kernels.prepare(threads, 0, 1);
  std::vector<double> errors;
  for (const std::int64_t n : {20, 96, 300})
    for (const std::int64_t in : {100, 784, 500})
      for (const std::int64_t out : {84, 400, 1500}) {
        NodeTimer timer(product_probe(n, in, out), kernels, threads);
        const std::vector<double> seconds = timer.measure(5, 0.02);
        const StepPrediction predicted =
            predict_step(timer.program().compiled(), *machine.with_threads(threads));
        for (std::size_t i = 0; i < seconds.size(); ++i)
          if (timer.program().graph().nodes[i].op->name == "matmul")
            errors.push_back(error_of(predicted.seconds[i], seconds[i]));
      }
  note_errors(records, name, errors);
}

// K08: the part of the peak from three layers, ten others predicted by it.
void bench_plain_model(const Options& options, const Machine& machine, int threads,
                       Records& records) {
  const std::string name = fmt::format("prediction/plain model/{}", threads_text(threads));
  if (!options.wants(name)) return;
  const KernelTable kernels = cpu_kernels();
  kernels.prepare(threads, 0, 1);
  const Calibration& calibration = *machine.with_threads(threads);
  PlainModel model;
  std::vector<double> parts, errors;
  const std::int64_t sizes[][3] = {{64, 128, 28},   {256, 64, 56},  {512, 256, 14}, {128, 128, 28},
                                   {64, 256, 56},   {256, 256, 14}, {512, 512, 7},  {128, 512, 28},
                                   {1024, 256, 14}, {96, 96, 28},   {192, 384, 14}, {384, 192, 14},
                                   {64, 64, 56}};
  for (const auto& [in, out, extent] : sizes) {
    NodeTimer timer(
        convolution_probe({.n = 4, .in = in, .out = out, .extent = extent, .kernel = 1}), kernels,
        threads);
    const std::vector<double> seconds = timer.measure(5, 0.02);
    const Graph& graph = timer.program().graph();
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (node.op->name != "convolution") continue;
      const Cost cost = cost_of_node(graph, node);
      const double fetch = (cost.bytes_read + cost.bytes_written) / calibration.bytes_per_second;
      if (parts.size() < 3) {
        parts.push_back(cost.multiply_adds / calibration.multiply_adds_per_second /
                        std::max(seconds[i] - fetch, 0.1 * seconds[i]));
        model.part_of_peak = spread_of(parts).median;
      } else {
        errors.push_back(error_of(plain_seconds(graph, node, calibration, model), seconds[i]));
      }
    }
  }
  note_errors(records, name, errors);
}

// Where the difference comes from: milliseconds by operator, those with the largest first.
nlohmann::ordered_json by_operator(const Program& program, const StepPrediction& predicted,
                                   const std::vector<double>& measured) {
  struct Sum {
    double predicted = 0, measured = 0;
  };
  std::map<std::string, Sum> sums;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const int step = static_cast<int>(i);
    Sum& sum = sums[program.graph().nodes[i].op->name + "/" + program.implementation(step)];
    sum.predicted += 1e3 * predicted.seconds[i];
    sum.measured += 1e3 * measured[i];
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.measured > b.second.measured; });
  nlohmann::ordered_json all;
  for (std::size_t k = 0; k < std::min<std::size_t>(sorted.size(), 10); ++k)
    all[sorted[k].first] = {std::round(1e3 * sorted[k].second.predicted) / 1e3,
                            std::round(1e3 * sorted[k].second.measured) / 1e3};
  return all;
}

// The error of one network, against the least of several steps: others' load only adds.
double bench_step(const Options& options, const Workload& workload, const Calibration& calibration,
                  int threads, const std::string& name, Records& records) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  Replica replica(replica_options(workload, all_models, all_rules, threads));
  replica.initialise(1);
  const Batch batch = batch_of(workload);
  const Program& program = replica.training_program(workload.batch, workload.batch);
  const StepPrediction predicted = predict_step(program.compiled(), calibration);
  std::vector<double> ms, least(static_cast<std::size_t>(program.size()), 1e300);
  const double round_ms = options.quick ? 300 : 2000, started = now_ms();
  for (int k = 0; k < 5 || (k < 200 && now_ms() - started < round_ms); ++k) {
    const StepState state{.step = k, .key = 1, .rate = 1e-3};
    Profile profile;
    const double before = now_ms();
    replica.step(batch.pointers, state, &profile);
    if (k == 0) continue;  // touches the memory
    ms.push_back(now_ms() - before);
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(least[i], profile.seconds[i]);
  }
  const Spread spread = spread_of(ms);
  const double error = error_of(1e3 * predicted.total, spread.min);
  records.note({{"name", name},
                {"predicted_ms", 1e3 * predicted.total},
                {"measured_ms", spread.min},
                {"median_ms", spread.median},
                {"error", error},
                {"never_measured", predicted.by_rates / predicted.total},
                {"predicted_and_measured_ms", by_operator(program, predicted, least)}});
  return error;
}

}  // namespace

Machine machine_for(const Options& options) {
  Machine machine = known_machine().value_or(Machine{});
  const KernelTable kernels = cpu_kernels();
  for (const int threads : options.threads)
    if (machine.with_threads(threads) == nullptr)
      machine.by_threads[threads] = calibrate(kernels, {.threads = threads}).calibration;
  return machine;
}

Batch batch_of(const Workload& workload, int rank, int ranks) {
  Batch batch;
  const std::int64_t all = workload.batch, n = data::share_of(all, rank, ranks).count();
  batch.x.resize(
      static_cast<std::size_t>(n * elements(field_named(workload.input.fields, "input").shape)));
  for (std::size_t i = 0; i < batch.x.size(); ++i)
    batch.x[i] = static_cast<float>(i % 61) / 61 - 0.5f;
  for (std::int64_t i = 0; i < n; ++i)
    batch.labels.push_back(static_cast<std::int32_t>(i % workload.input.classes));
  batch.weights.assign(static_cast<std::size_t>(n), 1.0f / static_cast<float>(all));
  batch.pointers = {all, n, {batch.x.data(), batch.labels.data(), batch.weights.data()}};
  return batch;
}

void bench_prediction(const Options& options, Records& records) {
  if (!options.wants("prediction") && options.filter.rfind("prediction", 0) != 0) return;
  const Machine machine = machine_for(options);
  for (const int threads : options.threads) {
    bench_products(options, machine, threads, records);
    bench_plain_model(options, machine, threads, records);
    std::vector<double> errors;
    for (Workload workload : workloads()) {
      if (workload.bf16()) continue;  // calibration knows floats
      const std::int64_t largest = workload.batch;
      for (const std::int64_t part : {8, 2, 1}) {
        workload.batch = std::max<std::int64_t>(largest / part, 1);
        const std::string name = fmt::format("prediction/{} b{}/{}", workload.name, workload.batch,
                                             threads_text(threads));
        if (options.wants(name))
          errors.push_back(bench_step(options, workload, *machine.with_threads(threads), threads,
                                      name, records));
      }
    }
    note_errors(records, fmt::format("prediction/steps/{}", threads_text(threads)), errors);
  }
}

}  // namespace tutti::bench
