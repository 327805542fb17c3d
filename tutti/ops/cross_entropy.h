// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op softmax_cross_entropy;       // (logits, labels, weights) -> loss
extern const Op softmax_cross_entropy_grad;  // (logits, labels, weights, dloss) -> dlogits

}  // namespace tutti::ops
