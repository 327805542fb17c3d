// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/reading.h"

namespace tutti {

data::PrefetchOptions reading_of(const Job& job, const Communicator& communicator) {
  const Settings& train = job.table("train");
  const auto counted = job.scheme.merge.counted;
  return {.dtype = job.dtype(),
          .share = communicator.rank(),
          .shares = communicator.size(),
          .weight = [counted](std::int64_t own,
                              std::int64_t all) { return mean_weight(own, counted(own, all)); },
          .depth = static_cast<int>(train.integer("prefetch")),
          .threads = static_cast<int>(train.integer("readers"))};
}

double mean_weight(std::int64_t, std::int64_t all) { return 1 / static_cast<double>(all); }

}  // namespace tutti
