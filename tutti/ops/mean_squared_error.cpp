// SPDX-License-Identifier: Apache-2.0
// Squared error: loss = Σ_n weights[n] · mean over features of (prediction - target)². The mean
// over a batch has weights 1 / n. Weights are data: no gradient flows to them.
#include "tutti/ops/mean_squared_error.h"

#include "tutti/ops/add.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/losses.h"
#include "tutti/ops/weigh.h"

namespace tutti::ops {
namespace {

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return regression_cost(3.0, 2.0, in, out);
}

void reference(const Call& call) {
  reference_regression(
      call, [](double weight, double error, std::int64_t) { return weight * error * error; });
}

void reference_grad(const Call& call) {
  const std::int64_t features = features_of(call.in[0].shape);
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *p = call.in[0].as<T>(), *t = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    T* dp = call.out[0].as<T>();
    const T factor = 2 * *call.in[3].as<T>() / static_cast<T>(features);
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      dp[i] = factor * weights[i / features] * (p[i] - t[i]);
  });
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  const ValueId prediction = node.inputs[0], target = node.inputs[1], weights = node.inputs[2];
  const ValueId in_prediction =
      graph.add1(mean_squared_error_grad, {prediction, target, weights, dy[0]});
  return {in_prediction, negated(graph, in_prediction), no_value};
}

std::vector<ValueId> gradient_of_grad(Graph& graph, const Node& node,
                                      const std::vector<ValueId>& v) {
  const ValueId prediction = node.inputs[0], target = node.inputs[1], weights = node.inputs[2],
                dloss = node.inputs[3];
  const double two_over_features = 2.0 / static_cast<double>(features_of(graph.shape(prediction)));
  const ValueId scaled = graph.add1(scale, {v[0]}, {{"factor", two_over_features}});
  const ValueId in_prediction = graph.add1(weigh, {scaled, weights, dloss});
  const ValueId error = graph.add1(add, {prediction, negated(graph, target)});
  return {in_prediction, negated(graph, in_prediction), no_value,
          graph.add1(weighted_dot, {scaled, error, weights})};
}

std::vector<OpCase> cases() { return regression_cases({{4}, {4, 3}, {2, 3, 2}}, {}); }

}  // namespace

const Op mean_squared_error{
    .name = "mean_squared_error",
    .doc = "loss = Σ weights[n] · mean over features of (prediction - target)²",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_regression("mean_squared_error", in);
          return loss_type(in);
        },
    .gradient = gradient,
    .undifferentiable = weights_are_data,
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          return regression_sharding(in, "p[{0}] t[{0}] weight[n] -> loss[]");
        },
    .reference = reference,
    .cases = cases,
};

const Op mean_squared_error_grad{
    .name = "mean_squared_error_grad",
    .doc = "dprediction = dloss · weights[n] · 2 / features · (prediction - target)",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_regression("mean_squared_error_grad", in);
          return loss_gradient_type(in);
        },
    .gradient = gradient_of_grad,
    .undifferentiable = weights_are_data,
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          return regression_sharding(in, "p[{0}] t[{0}] weight[n] dloss[] -> dp[{0}]");
        },
    .reference = reference_grad,
    .cases = [] { return with_dloss(cases()); },
    .in_place = {{0, 0}, {1, 0}},
};

}  // namespace tutti::ops
