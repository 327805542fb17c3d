// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// channel_sums(x; group) -> sums[g,3,c]: Σx, Σx² and the number of summands
extern const Op channel_sums, channel_sums_grad;
// channel_statistics(sums) -> mean[g,c], variance[g,c]
extern const Op channel_statistics, channel_statistics_grad;
// running_average(average mean, average variance, mean, variance, sums; momentum) -> the two
// averages
extern const Op running_average;

}  // namespace tutti::ops
