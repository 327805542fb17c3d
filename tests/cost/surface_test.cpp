// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Logarithms of the time of a product on an imagined machine: it is slower when a size is small,
// and falls off a little beyond a cache.
double log_seconds(double m, double n, double k) {
  const double products = m * n * k;
  const double part = m / (m + 4) * (n / (n + 16)) * (k / (k + 16));
  const double outside = (m * n + n * k + m * k) * 4 > 1e6 ? 1.2 : 1;
  return std::log2(products * outside / (1e11 * part));
}

std::vector<SurfacePoint> grid(std::initializer_list<double> extents) {
  std::vector<SurfacePoint> points;
  for (const double m : extents)
    for (const double n : extents)
      for (const double k : extents)
        points.push_back({{std::log2(m), std::log2(n), std::log2(k)},
                          log_seconds(m, n, k) - std::log2(m * n * k)});
  return points;
}

TEST(Surface, APointIsItsOwnEstimate) {
  const auto points = grid({4, 16, 64, 256, 1024});
  for (const SurfacePoint& point : points)
    EXPECT_NEAR(estimate(points, point.at), point.value, 0.02) << "log2: 1.4 %";
}

TEST(Surface, PlanesAreExact) {
  std::vector<SurfacePoint> points;
  for (double x = 0; x <= 4; ++x)
    for (double y = 0; y <= 4; ++y) points.push_back({{x, y}, 3 + 0.1 * x - 0.2 * y});
  EXPECT_NEAR(estimate(points, {1.5, 2.5}), 3 + 0.15 - 0.5, 0.01) << "but for the ridge";
}

// K06: the row allows 20 %; this surface has no noise.
TEST(Surface, K06SizesBetweenThoseMeasured) {
  const auto points = grid({4, 16, 64, 256, 1024});
  std::vector<double> errors;
  for (const double m : {10, 40, 100, 500})
    for (const double n : {10, 40, 100, 784})
      for (const double k : {10, 40, 300, 500}) {
        const double found =
            estimate(points, {std::log2(m), std::log2(n), std::log2(k)}) + std::log2(m * n * k);
        errors.push_back(std::abs(std::exp2(found - log_seconds(m, n, k)) - 1));
      }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.10);
  EXPECT_LT(errors.back(), 0.5);
}

TEST(Surface, OutsideTheNearestPlaceCounts) {
  const std::vector<SurfacePoint> points = {{{0}, 1}, {{1}, 2}, {{2}, 3}};
  EXPECT_NEAR(estimate(points, {7}), 3, 0.05);
  EXPECT_NEAR(estimate(points, {-7}), 1, 0.05);
}

}  // namespace
}  // namespace tutti
