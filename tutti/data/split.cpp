// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/split.h"

#include "tutti/core/rng.h"
#include "tutti/data/permutation.h"

#include <algorithm>
#include <cmath>

namespace tutti::data {

std::vector<Setting> split_settings() {
  return {{.name = "test_fraction",
           .initial = 0.2,
           .doc = "part of the samples that is kept for testing where no test files are given",
           .min = 0,
           .max = 1},
          {.name = "split_seed",
           .initial = std::int64_t{0},
           .doc = "seed of the shuffle that chooses the samples for testing",
           .min = 0,
           .max = 1e15}};
}

std::vector<std::int64_t> members_of(std::int64_t count, const Settings& settings, Split split) {
  const double fraction = settings.real("test_fraction");
  const std::int64_t test = std::llround(fraction * static_cast<double>(count));
  const std::int64_t first = split == Split::train ? 0 : count - test,
                     last = split == Split::train ? count - test : count;
  if (first == last)
    throw Error("of {} samples a 'test_fraction' of {} leaves none for {}", count, fraction,
                split == Split::train ? "training" : "testing");
  const Permutation shuffled(count,
                             mix(static_cast<std::uint64_t>(settings.integer("split_seed"))));
  std::vector<std::int64_t> members;
  for (std::int64_t i = first; i < last; ++i) members.push_back(shuffled(i));
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace tutti::data
