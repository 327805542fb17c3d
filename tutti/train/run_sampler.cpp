// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/run_sampler.h"

#include "tutti/optim/schedule.h"

namespace tutti {

data::Sampler sampler_of(const TrainingRun& run) {
  const Settings& train = run.job.table("train");
  data::Sampling sampling{.count = run.training.count,
                          .batch = train.integer("batch"),
                          .seed = static_cast<std::uint64_t>(train.integer("seed")),
                          .order = data::order_named(train.text("order")),
                          .last_batch = data::last_batch_named(train.text("last_batch"))};
  const data::Sampler constant(sampling);
  const Settings& optimizer = run.job.table("optimizer");
  if (optimizer.integer("grow_batch_to") == 0) return constant;
  // Growing batches mean fewer steps in an epoch, so there are at most this many steps.
  const std::int64_t steps = train.integer("steps");
  const std::int64_t most = steps > 0 ? steps : constant.steps_of(train.integer("epochs"));
  std::int64_t batch = sampling.batch;
  for (std::int64_t step = 1; step < most; ++step) {
    const std::int64_t next = batch_at(run.job.schedule, optimizer, step, steps, sampling.batch);
    if (next != batch) sampling.changes.push_back({step, batch = next});
  }
  return data::Sampler(sampling);
}

}  // namespace tutti
