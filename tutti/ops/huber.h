// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op huber;       // huber(prediction, target, weights; delta) -> loss
extern const Op huber_grad;  // huber_grad(prediction, target, weights, dloss) -> dprediction

}  // namespace tutti::ops
