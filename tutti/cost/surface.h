// SPDX-License-Identifier: Apache-2.0
// A function known at some points of a space of few dimensions, estimated in between (K06). Times
// of operators are such functions of the logarithms of their sizes.
#pragma once

#include <vector>

namespace tutti {

struct SurfacePoint {
  std::vector<double> at;
  double value = 0;
};

// By kriging (a Gaussian process) through the nearest points; the value at a point is nearly that
// of the point. Outside the box around all points, the value at the nearest place of the box is
// taken.
double estimate(const std::vector<SurfacePoint>& points, const std::vector<double>& at);

}  // namespace tutti
