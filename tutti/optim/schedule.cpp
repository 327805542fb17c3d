// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti {
namespace {

double constant_factor(const Settings&, std::int64_t, std::int64_t, std::int64_t) { return 1; }

double step_factor(const Settings& settings, std::int64_t step, std::int64_t, std::int64_t) {
  const std::int64_t every = settings.integer("every");
  std::int64_t drops = every > 0 ? step / every : 0;
  for (std::int64_t milestone : settings.integers("milestones")) drops += step >= milestone;
  return std::pow(settings.real("factor"), static_cast<double>(drops));
}

double cosine_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                     std::int64_t total_steps) {
  const double length = static_cast<double>(std::max<std::int64_t>(total_steps - warmup_steps, 1));
  const double done = std::clamp(static_cast<double>(step - warmup_steps) / length, 0.0, 1.0);
  const double last = settings.real("final");
  return last + (1 - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

double warmup_factor(const Settings& settings, std::int64_t step) {
  const std::int64_t steps = settings.integer("warmup_steps");
  if (step >= steps) return 1;
  const double start = settings.real("warmup_start");
  return start + (1 - start) * static_cast<double>(step) / static_cast<double>(steps);
}

}  // namespace

List<Schedule> schedules() {
  const std::int64_t never = 0;
  return {"rate schedule",
          {{"constant", "the base rate throughout", {}, constant_factor},
           {"step",
            "multiplies the rate by a factor at given steps",
            {{"every", never, "steps between two drops; 0: only at milestones", 0},
             {"milestones", std::vector<std::int64_t>{}, "steps at which the rate drops", 1},
             {"factor", 0.1, "what a drop multiplies the rate by", 0}},
            step_factor},
           {"cosine",
            "half a cosine from the base rate to its final part at the end of the run",
            {{"final", 0.0, "part of the base rate at the end", 0, 1}},
            cosine_factor,
            /*needs_total=*/true}}};
}

std::vector<Setting> rate_settings(const Schedule& schedule) {
  const std::int64_t none = 0;
  std::vector<Setting> settings = {
      {"rate", 0.1, "learning rate η", 0},
      {"schedule", schedule.name, "how the rate changes over the run"},
      {"warmup_steps", none, "steps over which the rate rises linearly to its value", 0},
      {"warmup_start", 0.0, "part of the rate at which warm-up starts", 0, 1}};
  settings.insert(settings.end(), schedule.settings.begin(), schedule.settings.end());
  return settings;
}

double rate_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
               std::int64_t total_steps) {
  const std::int64_t warmup_steps = settings.integer("warmup_steps");
  return settings.real("rate") * warmup_factor(settings, step) *
         schedule.factor(settings, step, warmup_steps, total_steps);
}

}  // namespace tutti
