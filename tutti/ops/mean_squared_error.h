// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op mean_squared_error;       // (prediction, target, weights) -> loss
extern const Op mean_squared_error_grad;  // (prediction, target, weights, dloss) -> dprediction

}  // namespace tutti::ops
