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

Share share_of(std::int64_t count, int rank, int ranks) {
  check(0 <= rank && rank < ranks, "a rank is one of the ranks");
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling) {
  if (sampling.count < 1) throw Error("the data set has no samples, expected at least one");
  if (sampling.batch < 1)
    throw Error("the batch is {} samples, expected at least 1", sampling.batch);
  if (steps_per_epoch() == 0)
    throw Error(
        "the batch of {} is larger than the data set of {} samples and partial batches are "
        "dropped, so no step is left; reduce the batch or keep the last batch",
        sampling.batch, sampling.count);
}

std::int64_t Sampler::steps_per_epoch() const {
  const auto& [count, batch, seed, order, last_batch] = sampling_;
  return count / batch + (last_batch == LastBatch::keep && count % batch != 0);
}

std::int64_t Sampler::batch(std::int64_t step) const {
  const std::int64_t first = step % steps_per_epoch() * sampling_.batch;
  return std::min(sampling_.batch, sampling_.count - first);
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
  const std::int64_t first = step % steps_per_epoch() * sampling_.batch + share.first;
  for (std::int64_t i = 0; i < share.count(); ++i) into[i] = index(epoch(step), first + i);
}

std::vector<std::int64_t> Sampler::indices(std::int64_t step, int rank, int ranks) const {
  const Share share = share_of(batch(step), rank, ranks);
  std::vector<std::int64_t> all(static_cast<std::size_t>(share.count()));
  indices(step, share, all);
  return all;
}

}  // namespace tutti::data
