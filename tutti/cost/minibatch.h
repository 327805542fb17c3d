// SPDX-License-Identifier: Apache-2.0
// Steps to a target against the size of the minibatch (K10; Fig. 6 of the ACM survey), on a noisy
// quadratic where everything is known: few samples per step waste machines, many waste samples.
#pragma once

namespace tutti {

// ½ Σ h_i w_i² in 20 dimensions with h_i log-spaced in [0.02, 1], from E w_i² = 1, with gradient
// noise of variance 4 h_i / B: steps until the expected loss is below 0.02, at the best of the
// learning rates 2, 2/1.05, 2/1.05² …
int minibatch_steps(double batch);

}  // namespace tutti
