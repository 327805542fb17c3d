// SPDX-License-Identifier: Apache-2.0
// Operators along one axis see a tensor as outer × extent × inner.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// The dimension that the setting "axis" names; a negative number counts from the last dimension.
std::size_t axis_of(const char* name, const Settings& settings, const Shape& shape);

// A tensor seen from one axis: `extent` is the axis, `outer` and `inner` are the products of the
// extents before and behind it.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

// The view along dimension `axis`.
AxisView view_along(const Shape& shape, std::size_t axis);
// The view along the dimension that the setting "axis" names.
AxisView view_along(const char* name, const Settings& settings, const Shape& shape);

// Index letters of all dimensions, "a,b,c".
std::string dimension_indices(const Shape& shape);
// The index letter of the dimension that the setting "axis" names.
char axis_index(const char* name, const Settings& settings, const Shape& shape);

// "x0[a,*,c] x1[a,*,c] -> y[a,*,c]": every dimension but the axis may be split.
std::string sharding_along(const Settings& settings, const std::vector<Type>& in);

// The cost of operators that only move elements: bytes in and out, and no work.
Cost cost_movement(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out);

}  // namespace tutti::ops
