// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// Inputs of normalise: x, mean, variance, gamma, beta and, when fused, a residual.
constexpr std::size_t normalise_residual = 5;

extern const Op normalise;
extern const Op normalise_sums, normalise_grad_parameters, normalise_grad_statistics;
extern const Op normalise_grad_input;
// What the fuse pass makes of normalise_grad_input + channel_sums_grad.
extern const Op normalise_grad;

}  // namespace tutti::ops
