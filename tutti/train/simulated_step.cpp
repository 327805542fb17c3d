// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/simulated_step.h"

#include "tutti/core/usual_rates.h"
#include "tutti/cost/predict.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/simulation.h"

namespace tutti {
namespace {

// Assumed speed of a machine that was not calibrated.
Calibration usual_speed(int threads) {
  Calibration assumed;
  assumed.multiply_adds_per_second = usual::peak_multiply_adds_per_second * threads;
  assumed.bytes_per_second = usual::copy_bytes_per_second;
  assumed.fork_join_seconds = usual::fork_join_seconds;
  assumed.stream = {{1 << 20, 1 / usual::copy_bytes_per_second}};
  return assumed;
}

}  // namespace

std::function<std::vector<double>(const CompiledStep&)> virtual_seconds(const Job& job,
                                                                        int threads) {
  if (!on_virtual_clock(job)) return {};
  return [&job, calibration = known_speed(threads).calibration](const CompiledStep& step) {
    return simulated_seconds(step, calibration, job.table("simulation"));
  };
}

KnownSpeed known_speed(int threads) {
  const std::optional<Machine> machine = known_machine();
  const Calibration* calibration = machine ? machine->with_threads(threads) : nullptr;
  if (calibration == nullptr) return {usual_speed(threads)};
  return {*calibration, machine->date};
}

std::vector<double> simulated_seconds(const CompiledStep& step, const Calibration& calibration,
                                      const Settings& simulation) {
  std::vector<double> seconds = predict_step(step, calibration).seconds;
  for (double& own : seconds) own /= simulation.real("speed");
  return seconds;
}

LastMicroBatch last_micro_batch(const Job& job) {
  const Settings& train = job.table("train");
  const int micro_batches = static_cast<int>(train.integer("accumulate"));
  const std::int64_t samples =
      data::share_of(train.integer("batch"), micro_batches - 1, micro_batches).count();
  return {.samples = samples,
          .local = data::share_of(samples, 0, job.ranks()).count(),
          .accumulation = {micro_batches > 1, true},
          .before = micro_batches - 1};
}

}  // namespace tutti
