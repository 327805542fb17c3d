// SPDX-License-Identifier: Apache-2.0
// The mean absolute error, as a metric of regression: Σ_n weights[n] · mean over features of
// scale · |prediction - target|. The scale of a feature is what brings it to the unit of the data.
#include "tutti/ops/absolute_error.h"

#include "tutti/ops/shared/traffic.h"

#include <cmath>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  check(in.size() == 3, "prediction, target and weights are given");
  if (!is_float(in[0].dtype) || in[0].shape.empty() || !(in[0] == in[1]) ||
      !(in[2] == Type{in[0].dtype, {in[0].shape[0]}}))
    throw Error(
        "[absolute_error] prediction is {} {}, target {} {}, sample weights {} {}; expected "
        "prediction and target alike and a weight for each sample",
        name_of(in[0].dtype), to_string(in[0].shape), name_of(in[1].dtype), to_string(in[1].shape),
        name_of(in[2].dtype), to_string(in[2].shape));
  const auto features = elements(in[0].shape, 1, in[0].shape.size());
  const auto scales = static_cast<std::int64_t>(settings.reals("scale").size());
  if (scales != 1 && scales != features)
    throw Error("[absolute_error] 'scale' has {} numbers, expected 1 or {}, one for each feature",
                scales, features);
  return {{in[0].dtype, {}}};
}

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const std::int64_t count = elements(in[0].shape);
  return with_traffic(
      {.work = 3.0 * static_cast<double>(count), .depth = 2.0 + log2_ceiling(count)}, in, out);
}

void reference(const Call& call) {
  const std::int64_t features = elements(call.in[0].shape, 1, call.in[0].shape.size());
  const std::vector<double>& scale = call.settings.reals("scale");
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *p = call.in[0].as<T>(), *t = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    double sum = 0;
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      sum += static_cast<double>(weights[i / features]) *
             scale[scale.size() == 1 ? 0 : static_cast<std::size_t>(i % features)] *
             std::abs(static_cast<double>(p[i]) - static_cast<double>(t[i]));
    *call.out[0].as<T>() = static_cast<T>(sum / static_cast<double>(features));
  });
}

}  // namespace

const Op absolute_error{
    .name = "absolute_error",
    .doc = "Σ weights[n] · mean over features of scale · |prediction - target|",
    .settings = {{.name = "scale",
                  .initial = std::vector<double>{1},
                  .doc = "of each feature, or one for all"}},
    .infer = infer,
    .undifferentiable = "it is a metric; train on mean_squared_error",
    .cost = cost,
    // Only samples may be split: the mean over features knows how many there are.
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          std::string indices = "n";
          for (std::size_t d = 1; d < in[0].shape.size(); ++d) indices += ",*";
          return fmt::format("p[{0}] t[{0}] weight[n] -> error[]", indices);
        },
    .reference = reference,
    .cases =
        [] {
          std::vector<OpCase> all;
          for (const Shape& shape : {Shape{4}, Shape{4, 3}, Shape{2, 3, 2}})
            all.push_back(
                {.settings = {},
                 .in = {{DType::f64, shape}, {DType::f64, shape}, {DType::f64, {shape[0]}}}});
          all.push_back({.settings = {{"scale", std::vector<double>{1, 2, 0.5}}},
                         .in = {{DType::f64, {4, 3}}, {DType::f64, {4, 3}}, {DType::f64, {4}}}});
          return all;
        },
};

}  // namespace tutti::ops
