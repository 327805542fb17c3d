// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/axis.h"

#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {

std::size_t axis_of(const char* name, const Settings& settings, const Shape& shape) {
  const std::int64_t axis = settings.integer("axis");
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank)
    throw Error("[{}] axis {} of a tensor {}: expected {} to {}", name, axis, to_string(shape),
                -rank, rank - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

AxisView view_along(const Shape& shape, std::size_t axis) {
  return {.outer = elements(shape, 0, axis),
          .extent = shape[axis],
          .inner = elements(shape, axis + 1, shape.size())};
}

AxisView view_along(const char* name, const Settings& settings, const Shape& shape) {
  return view_along(shape, axis_of(name, settings, shape));
}

std::string dimension_indices(const Shape& shape) {
  std::string indices;
  for (std::size_t d = 0; d < shape.size(); ++d)
    indices += (d > 0 ? "," : "") + std::string(1, static_cast<char>('a' + d));
  return indices;
}

char axis_index(const char* name, const Settings& settings, const Shape& shape) {
  return static_cast<char>('a' + static_cast<char>(axis_of(name, settings, shape)));
}

std::string sharding_along(const Settings& settings, const std::vector<Type>& in) {
  const std::size_t axis = axis_of("sharding", settings, in[0].shape);
  std::string indices;
  for (std::size_t d = 0; d < in[0].shape.size(); ++d)
    indices += (d > 0 ? "," : "") + std::string(1, d == axis ? '*' : static_cast<char>('a' + d));
  std::string rule;
  for (std::size_t i = 0; i < in.size(); ++i) rule += fmt::format("x{}[{}] ", i, indices);
  return rule + fmt::format("-> y[{}]", indices);
}

Cost cost_movement(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return with_traffic({.depth = 1}, in, out);
}

}  // namespace tutti::ops
