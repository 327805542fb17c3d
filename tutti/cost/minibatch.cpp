// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/minibatch.h"

#include <array>
#include <cmath>

namespace tutti {
namespace {

constexpr int dimensions = 20;
constexpr double flattest = 0.02, target = 0.02;
using Vector = std::array<double, dimensions>;

Vector curvatures() {
  Vector h;
  for (int i = 0; i < dimensions; ++i)
    h[static_cast<std::size_t>(i)] = std::pow(flattest, 1 - i / (dimensions - 1.0));
  return h;
}

// The loss at which the noise keeps training, after any number of steps.
double stationary_loss(const Vector& h, double batch, double rate) {
  double loss = 0;
  for (const double curvature : h) {
    const double kept = 1 - rate * curvature;
    loss += curvature * (4 * rate * rate * curvature / batch) / (1 - kept * kept) / 2;
  }
  return loss;
}

// E w² after a step is (1 − ηh)² E w² + η² · noise.
int steps_at(const Vector& h, double batch, double rate, int most) {
  Vector squares;
  squares.fill(1);
  for (int step = 0; step < most; ++step) {
    double loss = 0;
    for (std::size_t i = 0; i < h.size(); ++i) loss += h[i] * squares[i] / 2;
    if (loss < target) return step;
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double kept = 1 - rate * h[i];
      squares[i] = kept * kept * squares[i] + 4 * rate * rate * h[i] / batch;
    }
  }
  return most;
}

}  // namespace

int minibatch_steps(double batch) {
  constexpr double largest = 2, smallest = 1e-3, grid = 1.05;
  const Vector h = curvatures();
  int best = 1'000'000;
  for (double rate = largest; rate > smallest; rate /= grid)
    if (stationary_loss(h, batch, rate) < target) best = steps_at(h, batch, rate, best);
  return best;
}

}  // namespace tutti
