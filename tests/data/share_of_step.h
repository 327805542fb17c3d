// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/data/sampler.h"

#include <vector>

namespace tutti::data {

// The samples of the part-th of so many shares of a step's batch.
inline std::vector<std::int64_t> share_of_step(const Sampler& sampler, std::int64_t step, int part,
                                               int parts) {
  const Share share = share_of(sampler.batch(step), part, parts);
  std::vector<std::int64_t> samples(static_cast<std::size_t>(share.count()));
  sampler.indices(step, share, samples);
  return samples;
}

}  // namespace tutti::data
