// SPDX-License-Identifier: Apache-2.0
// Samples times their weights; the second derivatives of losses are made of these two operators.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op weigh;         // weigh(x, weights, s) -> s · weights[n] · x[n, …]
extern const Op weighted_dot;  // weighted_dot(a, b, weights) -> Σ weights[n] · a[n, …] · b[n, …]

}  // namespace tutti::ops
