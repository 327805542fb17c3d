// SPDX-License-Identifier: Apache-2.0
// The batch from the variance of the gradient (I12; Byrd, Chin, Nocedal and Wu 2012): the mean
// gradient of B samples has the variance σ²/B, and B is chosen so that this stays below θ²‖∇f‖².
// Both σ² and ‖∇f‖² follow from squares that a step has anyway: a part of n samples has E‖g_n‖² =
// ‖∇f‖² + σ²/n, the whole batch ‖∇f‖² + σ²/B.
#pragma once

#include "tutti/core/settings.h"

#include <cstdint>
#include <string>

namespace tutti {

// Squares of the mean gradients of one step.
struct GradientSquares {
  double parts = 0;           // mean of ‖g_n‖² over parts of the batch
  double inverse_counts = 0;  // mean of 1/n over these parts
  double whole = 0;           // ‖g‖² of the whole batch
  std::int64_t samples = 0;   // of the whole batch
};

// The batch only grows, at most twofold in a step, and has a reserve of a factor of two for the
// noise of the estimates, which are means over the last few steps.
class BatchFromVariance {
 public:
  // From the table [optimizer] (batch_from_variance = θ, grow_batch_to) and the first batch. All
  // later batches are multiples of it.
  BatchFromVariance(const Settings& optimizer, std::int64_t batch);

  // Takes note of a step and returns the batch of the next.
  std::int64_t after_step(const GradientSquares& squares);

  std::int64_t batch() const { return batch_; }
  double sample_variance() const { return sample_variance_; }  // σ²
  double gradient_square() const { return gradient_square_; }  // ‖∇f‖²; noise may make it negative

  // For checkpoints: everything that later batches depend on, bit for bit.
  std::string note() const;
  void restore(const std::string& note);

 private:
  double bound_;  // θ
  std::int64_t most_, batch_, steps_ = 0;
  double sample_variance_ = 0, gradient_square_ = 0;
};

}  // namespace tutti
