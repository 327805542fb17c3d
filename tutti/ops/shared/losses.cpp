// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/losses.h"

#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {

std::vector<Type> loss_type(const std::vector<Type>& in) { return {{in[0].dtype, {}}}; }

std::vector<Type> loss_gradient_type(const std::vector<Type>& in) {
  check(in.size() == 4 && in[3] == Type{in[0].dtype, {}}, "dloss is a scalar");
  return {in[0]};
}

std::vector<OpCase> with_dloss(std::vector<OpCase> cases) {
  for (OpCase& one : cases) one.in.push_back({DType::f64, {}});
  return cases;
}

void check_regression(const char* name, const std::vector<Type>& in) {
  check(in.size() >= 3, "prediction, target and weights are given");
  const Type &prediction = in[0], &target = in[1], &weights = in[2];
  if (!is_float(prediction.dtype) || prediction.shape.empty())
    throw Error("[{}] prediction is {} {}, expected floating-point samples × features", name,
                name_of(prediction.dtype), to_string(prediction.shape));
  if (!(prediction == target))
    throw Error("[{}] prediction is {} {} but target is {} {}, expected the same", name,
                name_of(prediction.dtype), to_string(prediction.shape), name_of(target.dtype),
                to_string(target.shape));
  if (!(weights == Type{prediction.dtype, {prediction.shape[0]}}))
    throw Error("[{}] sample weights are {} {}, expected {} {}", name, name_of(weights.dtype),
                to_string(weights.shape), name_of(prediction.dtype), prediction.shape[0]);
}

std::int64_t features_of(const Shape& shape) { return elements(shape, 1, shape.size()); }

Cost regression_cost(double operations, double depth, const std::vector<Type>& in,
                     const std::vector<Type>& out) {
  const std::int64_t count = elements(in[0].shape);
  const int reduction = out[0].shape.empty() ? log2_ceiling(count) : 0;
  return with_traffic({.work = operations * static_cast<double>(count), .depth = depth + reduction},
                      in, out);
}

std::string regression_sharding(const std::vector<Type>& in, const char* rule) {
  std::string indices = "n";
  for (std::size_t d = 1; d < in[0].shape.size(); ++d) indices += ",*";
  return fmt::format(fmt::runtime(rule), indices);
}

std::vector<OpCase> regression_cases(const std::vector<Shape>& shapes, const Settings& settings) {
  std::vector<OpCase> all;
  for (const Shape& shape : shapes)
    all.push_back({.settings = settings,
                   .in = {{DType::f64, shape}, {DType::f64, shape}, {DType::f64, {shape[0]}}}});
  return all;
}

}  // namespace tutti::ops
