// SPDX-License-Identifier: Apache-2.0
// A sharding rule is index notation: "x[n,i] w[o,i] -> y[n,o]". An index that stands in inputs and
// outputs is local when split; one that stands only in inputs is reduced, so splitting it leaves
// partial sums; "h+k" is a window: output index h read at positions that kernel index k spreads, so
// splitting h needs a halo. "*" may not be split.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct ShardingRule {
  // Per tensor, per dimension, the index as written: "n", "h+k" or "*".
  std::vector<std::vector<std::string>> inputs, outputs;
};

ShardingRule parse_sharding(std::string_view notation);

}  // namespace tutti
