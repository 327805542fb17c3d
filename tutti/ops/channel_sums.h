// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op channel_sums, channel_sums_grad;
extern const Op channel_statistics, channel_statistics_grad;
extern const Op running_average;

}  // namespace tutti::ops
