// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/sampler.h"

#include "tutti/core/error.h"
#include "tutti/core/nearest.h"
#include "tutti/core/rng.h"
#include "tutti/data/permutation.h"

#include <algorithm>

namespace tutti::data {

Order order_named(std::string_view name) {
  if (name == "shuffled") return Order::shuffled;
  if (name == "replacement") return Order::replacement;
  if (name == "sequential") return Order::sequential;
  throw Error("unknown sample order '{}'{}", name,
              suggestion(name, {"shuffled", "replacement", "sequential"}));
}

LastBatch last_batch_named(std::string_view name) {
  if (name == "keep") return LastBatch::keep;
  if (name == "drop") return LastBatch::drop;
  throw Error("unknown policy for the last batch '{}'{}", name, suggestion(name, {"keep", "drop"}));
}

Share share_of(std::int64_t count, int part, int parts) {
  check(0 <= part && part < parts, "a part is one of the parts");
  return {count * part / parts, count * (part + 1) / parts};
}

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling) {
  if (sampling.count < 1) throw Error("the data set has no samples, expected at least one");
  const auto begin = [&](std::int64_t step, std::int64_t batch) {
    if (batch < 1) throw Error("the batch is {} samples, expected at least 1", batch);
    if (steps_in(sampling.count, batch) == 0)
      throw Error(
          "the batch of {} is larger than the data set of {} samples and partial batches are "
          "dropped, so no step is left; reduce the batch or keep the last batch",
          batch, sampling.count);
    Segment segment{.step = step, .first = step > 0 ? place(step) : Place()};
    segment.first.batch = batch;
    segments_.push_back(segment);
  };
  begin(0, sampling.batch);
  for (const BatchChange& change : sampling.changes) {
    check(change.step > segments_.back().step, "changes of the batch are in order of steps");
    begin(change.step, change.batch);
  }
}

std::int64_t Sampler::steps_in(std::int64_t samples, std::int64_t batch) const {
  return samples / batch + (sampling_.last_batch == LastBatch::keep && samples % batch != 0);
}

Sampler::Place Sampler::place(std::int64_t step) const {
  auto segment = segments_.end() - 1;
  while (segment->step > step) --segment;
  const auto& [epoch, position, batch] = segment->first;
  std::int64_t steps = step - segment->step;
  const std::int64_t in_first = steps_in(sampling_.count - position, batch);
  if (steps < in_first) return {epoch, position + steps * batch, batch};
  steps -= in_first;
  const std::int64_t per_epoch = steps_in(sampling_.count, batch);
  return {epoch + 1 + steps / per_epoch, steps % per_epoch * batch, batch};
}

std::int64_t Sampler::steps_of(std::int64_t epochs) const {
  if (epochs == 0) return 0;
  // Epochs never go back, so the end lies in the last segment that begins before it.
  auto segment = segments_.end() - 1;
  while (segment != segments_.begin() && segment->first.epoch >= epochs) --segment;
  const auto& [epoch, position, batch] = segment->first;
  return segment->step + steps_in(sampling_.count - position, batch) +
         (epochs - epoch - 1) * steps_in(sampling_.count, batch);
}

std::int64_t Sampler::batch(std::int64_t step) const {
  const Place at = place(step);
  return std::min(at.batch, sampling_.count - at.position);
}

std::int64_t Sampler::largest_batch() const {
  std::int64_t largest = 0;
  for (const Segment& segment : segments_) largest = std::max(largest, segment.first.batch);
  return std::min(largest, sampling_.count);
}

std::int64_t Sampler::index(std::int64_t epoch, std::int64_t position) const {
  const std::uint64_t key = fold(mix(sampling_.seed), static_cast<std::uint64_t>(epoch));
  switch (sampling_.order) {
    case Order::shuffled:
      return Permutation(sampling_.count, key)(position);
    case Order::replacement:
      return static_cast<std::int64_t>(draw(key, static_cast<std::uint64_t>(position)) %
                                       static_cast<std::uint64_t>(sampling_.count));
    case Order::sequential:
      return position;
  }
  return position;
}

void Sampler::indices(std::int64_t step, Share share, std::span<std::int64_t> into) const {
  check(share.last <= batch(step) && static_cast<std::int64_t>(into.size()) == share.count(),
        "a share lies inside its batch");
  const Place at = place(step);
  for (std::int64_t i = 0; i < share.count(); ++i)
    into[i] = index(at.epoch, at.position + share.first + i);
}

std::vector<std::int64_t> Sampler::indices(std::int64_t step) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(batch(step)));
  indices(step, {0, batch(step)}, all);
  return all;
}

}  // namespace tutti::data
