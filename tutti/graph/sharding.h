// SPDX-License-Identifier: Apache-2.0
// A sharding rule is index notation: "x[n,i] w[o,i] -> y[n,o]". An index that stands in inputs and
// outputs is local when split; one that stands only in inputs is reduced, so splitting it leaves
// partial sums; "h+k" is a window: output index h read at positions that kernel index k spreads, so
// splitting h needs a halo. "n·t" is a merged index: one dimension that runs through all t for each
// n. Its outermost index may be split, since neighbouring n are a contiguous stretch of the
// dimension, t times as long; the inner indices may not. "*" may not be split.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct ShardingRule {
  // Per tensor, per dimension, the index as written: "n", "h+k", "n·t" or "*".
  std::vector<std::vector<std::string>> inputs, outputs;
};

// Reads a rule. A notation that can't be read is a bug of its operator.
ShardingRule parse_sharding(std::string_view notation);

// The indices that a dimension merges, outermost first: "n" and "t" of "n·t"; any other dimension
// has one.
std::vector<std::string> merged_indices(std::string_view written);

// The index along which a dimension is split without overlap: "n" of "n" and of "n·t"; empty for a
// window and for "*".
std::string split_index(std::string_view written);

}  // namespace tutti
