// SPDX-License-Identifier: Apache-2.0
// A11: stochastic subgradient descent on a convex function that is Lipschitz, no more: with a rate
// of 1/√T the mean of T iterates is O(1/√T) above the least value.
#include "tutti/core/rng.h"
#include "tutti/optim/rule.h"
#include "tutti/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

// f(w) = E|w − z|, where z is 0 half of the time and else ±1: least at its median, 0, where it has
// a kink. Where z has a density instead, f is smooth at its median, and the mean comes nearer: 1/T.
double noisy_sign(double w, std::uint64_t key, std::uint64_t step) {
  const double uniform = static_cast<double>(draw(key, step) >> 11) * 0x1p-53;
  const double z = uniform < 0.5 ? 0 : uniform < 0.75 ? -1 : 1;
  return w > z ? 1 : w < z ? -1 : 0;
}
double gap(double w) { return std::abs(w) / 2 + (std::abs(w - 1) + std::abs(w + 1)) / 4 - 0.5; }

// The mean gap over independent runs, each a coordinate of w, from w = 2.
double mean_gap(std::int64_t steps) {
  constexpr std::size_t runs = 32;
  const Rule sgd = rules().find("sgd");
  const Schedule constant = schedules().find("constant");
  const Settings settings =
      resolve(rate_settings(constant), {{"rate", 2 / std::sqrt(static_cast<double>(steps))}}, "");
  std::vector<double> w(runs, 2.0), g(runs), mean(runs, 0.0);
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < runs; ++i) {
      mean[i] += w[i] / static_cast<double>(steps);
      g[i] = noisy_sign(w[i], fold(11, i), static_cast<std::uint64_t>(t));
    }
    sgd.apply({DType::f64, w.data(), g.data(), nullptr, runs,
               Hyper{.rate = rate_at(constant, settings, t, steps), .step = t + 1}});
  }
  double sum = 0;
  for (const double one : mean) sum += gap(one);
  return sum / runs;
}

TEST(ConvergenceRate, OneOverTheRootOfTheStepsA11) {
  // The line of least squares through log gap against log T.
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const std::int64_t steps : {100, 316, 1000, 3162, 10000, 31623, 100000}) {
    const double a = std::log(static_cast<double>(steps)), b = std::log(mean_gap(steps));
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  EXPECT_GT(slope, -0.6);
  EXPECT_LT(slope, -0.4);
}

}  // namespace
}  // namespace tutti
