// SPDX-License-Identifier: Apache-2.0
// Learning rates and batches over time. A schedule is a factor of the base rate as a function of
// the step (I02, I13). With any schedule the rate may scale with the batch (I08), warm-up may raise
// it to the scaled value (I09), and where the schedule would divide the rate, the batch may be
// multiplied instead (I11). For batches by the variance of the gradient (I12) see
// batch_from_variance.h.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Schedule {
  std::string name, doc;
  std::vector<Setting> settings;
  // The factor of the base rate at `step` (counted from the start of the training run, as all steps
  // here).
  double (*factor)(const Settings&, std::int64_t step, std::int64_t warmup_steps,
                   std::int64_t total_steps) = nullptr;
  bool needs_total = false;  // `factor` uses total_steps, so the length of training must be known
};

List<Schedule> schedules();

// What a recipe may say about the rate under this schedule: rate, schedule, scaling, warm-up,
// growth of the batch and the schedule's own settings.
std::vector<Setting> rate_settings(const Schedule& schedule);

// The learning rate of the update that `step` others precede, in a training run of `total_steps`
// steps whose recipe sets a batch of `batch` samples.
double rate_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
               std::int64_t total_steps, std::int64_t batch = 1);

// The samples of the same update: `batch`, or a multiple of it where the schedule makes the batch
// grow.
std::int64_t batch_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
                      std::int64_t total_steps, std::int64_t batch);

}  // namespace tutti
