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

// The fraction of the steps after warm-up that is done.
double part_done(std::int64_t step, std::int64_t warmup_steps, std::int64_t total_steps) {
  const double length = static_cast<double>(std::max<std::int64_t>(total_steps - warmup_steps, 1));
  return std::clamp(static_cast<double>(step - warmup_steps) / length, 0.0, 1.0);
}

// Steps done after warm-up, in units of `every`.
double periods_done(const Settings& settings, std::int64_t step, std::int64_t warmup_steps) {
  return static_cast<double>(std::max<std::int64_t>(step - warmup_steps, 0)) /
         static_cast<double>(settings.integer("every"));
}

// From 1 to `last` over half a cosine.
double half_cosine(double done, double last) {
  return last + (1 - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

double cosine_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                     std::int64_t total_steps) {
  return half_cosine(part_done(step, warmup_steps, total_steps), settings.real("final"));
}

double polynomial_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                         std::int64_t total_steps) {
  const double last = settings.real("final");
  const double left = 1 - part_done(step, warmup_steps, total_steps);
  return last + (1 - last) * std::pow(left, settings.real("power"));
}

double exponential_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                          std::int64_t) {
  return std::pow(settings.real("factor"), periods_done(settings, step, warmup_steps));
}

double inverse_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                      std::int64_t) {
  return std::pow(1 + periods_done(settings, step, warmup_steps), -settings.real("power"));
}

double restarts_factor(const Settings& settings, std::int64_t step, std::int64_t warmup_steps,
                       std::int64_t) {
  const double growth = settings.real("growth"), last = settings.real("final");
  double done = periods_done(settings, step, warmup_steps), period = 1;
  if (growth == 1) return half_cosine(done - std::floor(done), last);
  for (; done >= period; period *= growth) done -= period;
  return half_cosine(done / period, last);
}

// What scaling multiplies the rate by: k = batch / base_batch, or its root (I08).
double scaling_factor(const Settings& settings, std::int64_t batch) {
  const std::string& scaling = settings.text("scaling");
  if (scaling == "none" || settings.integer("base_batch") == 0) return 1;
  const double k = static_cast<double>(batch) / static_cast<double>(settings.integer("base_batch"));
  return scaling == "linear" ? k : std::sqrt(k);
}

// The rate during warm-up as a fraction of the scaled rate (I09). It rises from warmup_start of the
// base rate to 1.
double warmup_factor(const Settings& settings, std::int64_t step, double scaling) {
  const std::int64_t steps = settings.integer("warmup_steps");
  if (step >= steps) return 1;
  const double start = settings.real("warmup_start") / scaling;
  return start + (1 - start) * static_cast<double>(step) / static_cast<double>(steps);
}

// What the first batch is multiplied by in an update whose rate the schedule would multiply by
// `factor` (I11).
std::int64_t growth_of(const Settings& settings, double factor, std::int64_t batch) {
  const std::int64_t most = settings.integer("grow_batch_to") / batch;
  if (most <= 1 || settings.real("batch_from_variance") > 0) return 1;
  // A factor such as 0.1² is a little above 0.01, and its inverse a little below 100.
  constexpr double rounding = 1e-9;
  const double wanted = std::floor(1 / factor * (1 + rounding));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(wanted, double(most))));
}

}  // namespace

List<Schedule> schedules() {
  const std::int64_t never = 0, thousand = 1000;
  const Setting every{"every", thousand, "steps of a period", 1};
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
            /*needs_total=*/true},
           {"polynomial",
            "a power of what is left of the run, from the base rate to its final part",
            {{"power", 1.0, "power of the part that is left; 1: a straight line", 0},
             {"final", 0.0, "part of the base rate at the end", 0, 1}},
            polynomial_factor,
            /*needs_total=*/true},
           {"exponential",
            "multiplies the rate by a factor in every period, a little in each step",
            {every, {"factor", 0.5, "what the rate is multiplied by in a period", 0, 1}},
            exponential_factor},
           {"inverse",
            "divides the rate by (1 + t / every) to some power",
            {every, {"power", 1.0, "1: inverse time, 0.5: inverse root", 0}},
            inverse_factor},
           {"restarts",
            "half a cosine from the base rate down, again and again (warm restarts)",
            {every,
             {"growth", 2.0, "what a period is multiplied by to get the next", 1},
             {"final", 0.0, "part of the base rate at the end of a period", 0, 1}},
            restarts_factor}}};
}

std::vector<Setting> rate_settings(const Schedule& schedule) {
  const std::int64_t none = 0;
  std::vector<Setting> settings = {
      {"rate", 0.1, "learning rate η; with scaling that of base_batch", 0},
      {"schedule", schedule.name, "how the rate changes over the run"},
      {.name = "scaling",
       .initial = std::string("none"),
       .doc = "how the rate grows with train.batch / base_batch",
       .choices = {"none", "linear", "square_root"}},
      {"base_batch", none, "samples of a step that 'rate' is meant for; 0: any, no scaling", 0},
      {"warmup_steps", none, "steps over which the rate rises linearly to its value", 0},
      {"warmup_start", 0.0, "part of 'rate', before scaling, at which warm-up starts", 0, 1},
      {"grow_batch_to", none,
       "samples up to which the batch is multiplied where the schedule would divide the rate; 0: "
       "the batch stays",
       0},
      {"batch_from_variance", 0.0,
       "θ: the batch grows, up to grow_batch_to, so that the variance of the mean gradient stays "
       "below θ²‖g‖²; needs train.accumulate of 2 or more; 0: off",
       0}};
  settings.insert(settings.end(), schedule.settings.begin(), schedule.settings.end());
  return settings;
}

double rate_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
               std::int64_t total_steps, std::int64_t batch) {
  const double scaling = scaling_factor(settings, batch);
  const double factor =
      schedule.factor(settings, step, settings.integer("warmup_steps"), total_steps);
  // The rate need not fall by the factor by which the batch has grown.
  const auto growth = static_cast<double>(growth_of(settings, factor, batch));
  return settings.real("rate") * scaling * warmup_factor(settings, step, scaling) *
         (factor * growth);
}

std::int64_t batch_at(const Schedule& schedule, const Settings& settings, std::int64_t step,
                      std::int64_t total_steps, std::int64_t batch) {
  return batch *
         growth_of(settings,
                   schedule.factor(settings, step, settings.integer("warmup_steps"), total_steps),
                   batch);
}

}  // namespace tutti
