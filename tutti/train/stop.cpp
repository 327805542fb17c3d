// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/stop.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr std::int32_t go_on = -1;

}  // namespace

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

CommonStop::CommonStop(Communicator& communicator)
    : communicator_(communicator),
      tag_(communicator.tags().of({.what = "word of how the step began"})),
      requests_(communicator.rank() == 0 ? static_cast<std::size_t>(communicator.size() - 1) : 1) {}

// A peer may still read or write the word while an error unwinds this rank.
CommonStop::~CommonStop() {
  for (Request& request : requests_)
    if (!communicator_.test(request)) communicator_.abandon();
}

void CommonStop::tell(const Asked& own) {
  constexpr std::int64_t bytes = sizeof word_;
  if (communicator_.rank() > 0) {
    requests_[0] = communicator_.receive(word_.data(), bytes, 0, tag_);
    return;
  }
  word_ = {own.stop ? static_cast<std::int32_t>(own.stop->why) : go_on,
           own.stop ? own.stop->signal : 0, own.checkpoint ? 1 : 0};
  for (int peer = 1; peer < communicator_.size(); ++peer)
    requests_[static_cast<std::size_t>(peer - 1)] =
        communicator_.send(word_.data(), bytes, peer, tag_);
}

Asked CommonStop::hear() {
  for (Request& request : requests_) wait(request, communicator_, "word of how the step began");
  Asked heard{.stop = std::nullopt, .checkpoint = word_[2] != 0};
  if (word_[0] != go_on) heard.stop = Stop{static_cast<TrainSummary::Why>(word_[0]), word_[1]};
  return heard;
}

}  // namespace tutti
