// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/surface.h"

#include "tutti/core/error.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

double square_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

std::vector<double> clamped(const std::vector<SurfacePoint>& points, std::vector<double> at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [d](const auto& a, const auto& b) { return a.at[d] < b.at[d]; });
    at[d] = std::clamp(at[d], low->at[d], high->at[d]);
  }
  return at;
}

// Matérn 3/2: how much alike times at this distance are.
double likeness(double square_distance) {
  constexpr double reach = 8;
  const double r = std::sqrt(3 * square_distance) / reach;
  return (1 + r) * std::exp(-r);
}

std::vector<const SurfacePoint*> nearest(const std::vector<SurfacePoint>& points,
                                         const std::vector<double>& at) {
  constexpr std::size_t most = 64;
  std::vector<std::pair<double, const SurfacePoint*>> all;
  for (const SurfacePoint& point : points) all.emplace_back(square_distance(point.at, at), &point);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), end, all.end());
  std::vector<const SurfacePoint*> near;
  for (auto it = all.begin(); it != end; ++it) near.push_back(it->second);
  return near;
}

}  // namespace

double estimate(const std::vector<SurfacePoint>& points, const std::vector<double>& at) {
  check(!points.empty() && points[0].at.size() == at.size(),
        "points lie in the space of the query");
  constexpr double noise = 0.001;  // fraction of the variance that is the measurements' own
  const std::vector<double> query = clamped(points, at);
  const std::vector<const SurfacePoint*> near = nearest(points, query);
  const auto count = static_cast<Eigen::Index>(near.size());
  Eigen::MatrixXd among(count, count);
  Eigen::VectorXd to(count), values(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const SurfacePoint& point = *near[static_cast<std::size_t>(i)];
    values[i] = point.value;
    to[i] = likeness(square_distance(point.at, query));
    for (Eigen::Index j = 0; j < count; ++j)
      among(i, j) = likeness(square_distance(point.at, near[static_cast<std::size_t>(j)]->at));
    among(i, i) += noise;
  }
  const double mean = values.mean();
  return mean + to.dot(among.llt().solve((values.array() - mean).matrix()));
}

}  // namespace tutti
