// SPDX-License-Identifier: Apache-2.0
// Learning rates over time (I02, I09): a schedule is a factor of the base rate as a function of the
// step; warm-up multiplies any of them.
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

// What a recipe may say about the rate under this schedule: rate, schedule, warm-up and the
// schedule's own settings.
std::vector<Setting> rate_settings(const Schedule& schedule);

// The learning rate of the update that `step` others precede, in a run of `total_steps`.
double rate_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
               std::int64_t total_steps);

}  // namespace tutti
