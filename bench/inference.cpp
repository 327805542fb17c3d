// SPDX-License-Identifier: Apache-2.0
#include "bench/inference.h"

#include "bench/prediction.h"
#include "bench/time_operator.h"
#include "bench/workload.h"

#include <algorithm>
#include <memory>

namespace tutti::bench {
namespace {

// One network in one precision on one batch, with the milliseconds that it took.
struct Contender {
  std::string precision;
  Workload workload;
  std::unique_ptr<Replica> replica = {};
  Batch batch = {};
  std::vector<double> ms = {};

  std::vector<float> outputs() {
    std::vector<float> y(static_cast<std::size_t>(workload.batch * workload.input.classes));
    replica->predict(batch.pointers, y.data());
    return y;
  }
};

void expect_close(Contender& integers, Contender& floats) {
  constexpr double tolerance = 0.05;  // of the largest: some roundings of 1 / 254 for each layer
  const std::vector<float> found = integers.outputs(), expected = floats.outputs();
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    error = std::max(error, std::abs(static_cast<double>(found[i] - expected[i])));
  }
  if (!(error <= tolerance * largest))
    throw Error("inference: 8-bit outputs differ by {:.2g} of the largest, expected at most {}",
                error / largest, tolerance);
}

}  // namespace

void bench_inference(const Options& options, Records& records) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  for (const int threads : options.threads) {
    const std::string name = fmt::format("inference/mlp/{}", threads_text(threads));
    if (!options.wants(name)) continue;
    std::vector<Contender> all;
    for (const std::int64_t samples : {1, 32})
      for (const char* precision : {"f32", "int8"}) {
        Contender& one = all.emplace_back(Contender{precision, workloads()[0]});
        one.workload.batch = samples;
        ReplicaOptions settings = replica_options(one.workload, all_models, all_rules, threads);
        settings.selection.precision = precision;
        one.replica = std::make_unique<Replica>(settings);
        one.replica->initialise(1);
        one.batch = batch_of(one.workload);
      }
    for (std::size_t k = 0; k < all.size(); k += 2) expect_close(all[k + 1], all[k]);
    const double started = now_ms();
    for (int k = 0; k < options.repeats || now_ms() - started < 4 * options.round_ms(); ++k)
      for (Contender& one : all) {
        const double before = now_ms();
        one.replica->evaluate(one.batch.pointers);
        one.ms.push_back((now_ms() - before) / static_cast<double>(one.workload.batch));
      }
    nlohmann::ordered_json line = {{"name", name}};
    for (const Contender& one : all)
      line[fmt::format("{}_b{}_ms_per_sample", one.precision, one.workload.batch)] =
          spread_of(one.ms).median;
    line["int8_b32_per_b1"] = spread_of(all[3].ms).median / spread_of(all[1].ms).median;
    records.note(line);
  }
}

}  // namespace tutti::bench
