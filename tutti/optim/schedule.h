// SPDX-License-Identifier: Apache-2.0
// Learning rates and batches over time. A schedule is a factor of the base rate as a function of
// the step (I02, I13). Around any of them: the rate may scale with the batch (I08), warm-up raises
// it from the base to the scaled value (I09), and where the schedule would divide the rate, the
// batch may be multiplied instead (I11). Batches by the variance of the gradient (I12) are those of
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
  // The factor of the base rate at `step` (counted from the start of the run, as everything here).
  double (*factor)(const Settings&, std::int64_t step, std::int64_t warmup_steps,
                   std::int64_t total_steps) = nullptr;
  bool needs_total = false;  // `factor` looks at total_steps: the length of the run must be known
};

List<Schedule> schedules();

// What a recipe may say about the rate under this schedule: rate, schedule, scaling, warm-up,
// growth of the batch and the schedule's own settings.
std::vector<Setting> rate_settings(const Schedule& schedule);

// The learning rate of the update that `step` others precede, in a run of `total_steps` whose
// recipe says `batch`.
double rate_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
               std::int64_t total_steps, std::int64_t batch = 1);

// The samples of that update: `batch`, or a multiple of it where it grows.
std::int64_t batch_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
                      std::int64_t total_steps, std::int64_t batch);

}  // namespace tutti
