// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/stop.h"

#include <algorithm>

namespace tutti {

std::int64_t Limits::total_steps() const {
  if (steps == 0 || epoch_steps == 0) return std::max(steps, epoch_steps);
  return std::min(steps, epoch_steps);
}

Limits limits_of(const Job& job, const data::Dataset& dataset, const data::Sampler& sampler) {
  const Settings& train = job.table("train");
  return {.steps = train.integer("steps"),
          .epoch_steps = sampler.steps_of(train.integer("epochs")),
          .wall_time = train.real("wall_time"),
          .target = train.real("target"),
          .by_loss = dataset.classes == 0};
}

std::optional<Stop> reached(const Limits& limits, std::int64_t steps,
                            const Evaluation* evaluation) {
  const auto over = [&](std::int64_t limit) { return limit > 0 && steps >= limit; };
  if (limits.target > 0 && evaluation != nullptr &&
      (limits.by_loss ? evaluation->loss <= limits.target : evaluation->accuracy >= limits.target))
    return Stop{TrainSummary::target};
  if (over(limits.steps)) return Stop{TrainSummary::steps};
  if (over(limits.epoch_steps)) return Stop{TrainSummary::epochs};
  return std::nullopt;
}

std::optional<Stop> asked(const Limits& limits, double seconds, int signal) {
  if (signal != 0) return Stop{TrainSummary::signal, signal};
  if (limits.wall_time > 0 && seconds >= limits.wall_time) return Stop{TrainSummary::wall_time};
  return std::nullopt;
}

Asked both(const Asked& first, const Asked& second) {
  return {.stop = first.stop ? first.stop : second.stop,
          .checkpoint = first.checkpoint || second.checkpoint};
}

StopWord word_of(const Asked& asked) {
  return {asked.stop ? static_cast<std::int32_t>(asked.stop->why) + 1 : 0,
          asked.stop ? asked.stop->signal : 0, asked.checkpoint ? 1 : 0};
}

Asked asked_in(const StopWord& word) {
  Asked asked{.stop = std::nullopt, .checkpoint = word[2] != 0};
  if (word[0] != 0) asked.stop = Stop{static_cast<TrainSummary::Why>(word[0] - 1), word[1]};
  return asked;
}

}  // namespace tutti
