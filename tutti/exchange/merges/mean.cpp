// SPDX-License-Identifier: Apache-2.0
// Each rank has the mean over its own samples. Ranks are averaged; a rank weighs as much as it has
// samples.
#include "tutti/exchange/merges/merge.h"

namespace tutti {

extern const Merge mean_merge;

const Merge mean_merge{
    .name = "mean",
    .doc = "a sample weighs 1 / the samples of its rank, and ranks are averaged",
    .objection = [](const Scheme&, const SchemeUse& use) -> std::string {
      return use.micro_batches > 1
                 ? "a rank's mean is over one micro-batch, expected train.accumulate = 1"
                 : "";
    },
    .counted = [](std::int64_t own, std::int64_t) { return own; },
    .factor = [](std::int64_t own,
                 std::int64_t all) { return static_cast<double>(own) / static_cast<double>(all); },
};

}  // namespace tutti
