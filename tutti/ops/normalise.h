// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// Inputs of normalise: x, mean, variance, gamma, beta and, when fused, a residual.
constexpr std::size_t normalise_residual = 5;

extern const Op normalise;
// normalise_sums(dy, x, …) -> sums[g,3,c]: Σdy, Σdy·x̂ and the number of summands, of which the two
// operators beside it make the gradients of gamma and beta, and of mean and variance.
extern const Op normalise_sums, normalise_grad_parameters, normalise_grad_statistics;
// The gradient of x where the statistics are held fixed.
extern const Op normalise_grad_input;
// What the fuse pass makes of normalise_grad_input + channel_sums_grad.
extern const Op normalise_grad;

}  // namespace tutti::ops
