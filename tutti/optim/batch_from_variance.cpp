// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/batch_from_variance.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tutti {
namespace {

constexpr double newest = 0.3;  // least weight of the newest step in the means
constexpr double reserve = 2;   // multiplies the variance

}  // namespace

BatchFromVariance::BatchFromVariance(const Settings& optimizer, std::int64_t batch)
    : bound_(optimizer.real("batch_from_variance")),
      most_(std::max(optimizer.integer("grow_batch_to") / batch, std::int64_t{1}) * batch),
      batch_(batch) {}

std::int64_t BatchFromVariance::after_step(const GradientSquares& squares) {
  const double whole_inverse = 1 / static_cast<double>(squares.samples);
  check(squares.inverse_counts > whole_inverse, "parts are smaller than the batch");
  const double variance =
      (squares.parts - squares.whole) / (squares.inverse_counts - whole_inverse);
  const double square = squares.whole - variance * whole_inverse;
  const double weight = std::max(newest, 1 / static_cast<double>(++steps_));
  sample_variance_ += weight * (variance - sample_variance_);
  gradient_square_ += weight * (square - gradient_square_);
  // Where the gradient drowns in noise, its square may come out negative.
  const double bound = bound_ * bound_ * std::max(gradient_square_, 0.0);
  if (reserve * sample_variance_ > bound * static_cast<double>(batch_))
    batch_ = std::min(2 * batch_, most_);
  return batch_;
}

std::string BatchFromVariance::note() const {
  return fmt::format("{} {} {:a} {:a}", batch_, steps_, sample_variance_, gradient_square_);
}

void BatchFromVariance::restore(const std::string& note) {
  std::istringstream words(note);
  std::string variance, square;
  words >> batch_ >> steps_ >> variance >> square;
  if (!words) throw Error("'{}' is no note on the variance of gradients", note);
  sample_variance_ = std::strtod(variance.c_str(), nullptr);
  gradient_square_ = std::strtod(square.c_str(), nullptr);
}

}  // namespace tutti
