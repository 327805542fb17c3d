// SPDX-License-Identifier: Apache-2.0
// The mean absolute error, as a metric of regression: Σ_n weights[n] · mean over features of
// scale · |prediction - target|. The scale of a feature converts it to the unit of the data.
#include "tutti/ops/absolute_error.h"

#include "tutti/ops/shared/losses.h"

#include <cmath>

namespace tutti::ops {
namespace {

std::vector<Type> infer(const Settings& settings, const std::vector<Type>& in) {
  check_regression("absolute_error", in);
  const std::int64_t features = features_of(in[0].shape);
  const auto scales = static_cast<std::int64_t>(settings.reals("scale").size());
  if (scales != 1 && scales != features)
    throw Error("[absolute_error] 'scale' has {} numbers, expected 1 or {}, one for each feature",
                scales, features);
  return loss_type(in);
}

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return regression_cost(3.0, 2.0, in, out);
}

void reference(const Call& call) {
  const std::int64_t features = features_of(call.in[0].shape);
  const std::vector<double>& scale = call.settings.reals("scale");
  reference_regression(call, [&](double weight, double error, std::int64_t i) {
    return weight * scale[scale.size() == 1 ? 0 : static_cast<std::size_t>(i % features)] *
           std::abs(error);
  });
}

}  // namespace

const Op absolute_error{
    .name = "absolute_error",
    .doc = "Σ weights[n] · mean over features of scale · |prediction - target|",
    .settings = {{.name = "scale",
                  .initial = std::vector<double>{1},
                  .doc = "factor of each feature, or one for all"}},
    .infer = infer,
    .undifferentiable = "it is a metric; train on mean_squared_error",
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          return regression_sharding(in, "p[{0}] t[{0}] weight[n] -> error[]");
        },
    .reference = reference,
    .cases =
        [] {
          std::vector<OpCase> all = regression_cases({{4}, {4, 3}, {2, 3, 2}}, {});
          all.push_back(regression_cases({{4, 3}}, {{"scale", std::vector<double>{1, 2, 0.5}}})[0]);
          return all;
        },
};

}  // namespace tutti::ops
