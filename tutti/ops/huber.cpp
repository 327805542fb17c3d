// SPDX-License-Identifier: Apache-2.0
// The Huber loss: loss = Σ_n weights[n] · mean over features of ρ(prediction - target), with
// ρ(e) = e² / 2 up to |e| = δ and δ (|e| - δ / 2) beyond, so that outliers pull with a bounded
// force. Its derivative is e cut off at ±δ. Weights are data: no gradient flows to them.
#include "tutti/ops/huber.h"

#include "tutti/ops/add.h"
#include "tutti/ops/clip.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/losses.h"
#include "tutti/ops/weigh.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

const std::vector<Setting> delta_setting{
    {.name = "delta",
     .initial = 1.0,
     .doc = "error at which the loss turns from a square to a line",
     .min = 1e-12}};

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return regression_cost(4.0, 3.0, in, out);
}

void reference(const Call& call) {
  const double delta = call.settings.real("delta");
  reference_regression(call, [&](double weight, double difference, std::int64_t) {
    const double error = std::abs(difference);
    return weight * (error <= delta ? error * error / 2 : delta * (error - delta / 2));
  });
}

void reference_grad(const Call& call) {
  const std::int64_t features = features_of(call.in[0].shape);
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *p = call.in[0].as<T>(), *t = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    T* dp = call.out[0].as<T>();
    const T delta = static_cast<T>(call.settings.real("delta"));
    const T factor = *call.in[3].as<T>() / static_cast<T>(features);
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      dp[i] = factor * weights[i / features] * std::clamp(p[i] - t[i], -delta, delta);
  });
}

std::vector<ValueId> gradient(Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
  const ValueId prediction = node.inputs[0], target = node.inputs[1], weights = node.inputs[2];
  const ValueId in_prediction =
      graph.add1(huber_grad, {prediction, target, weights, dy[0]}, node.settings);
  return {in_prediction, negated(graph, in_prediction), no_value};
}

std::vector<ValueId> gradient_of_grad(Graph& graph, const Node& node,
                                      const std::vector<ValueId>& v) {
  const ValueId prediction = node.inputs[0], target = node.inputs[1], weights = node.inputs[2],
                dloss = node.inputs[3];
  const Settings limit{{"limit", node.settings.real("delta")}};
  const double share = 1.0 / static_cast<double>(features_of(graph.shape(prediction)));
  const ValueId scaled = graph.add1(scale, {v[0]}, {{"factor", share}});
  const ValueId error = graph.add1(add, {prediction, negated(graph, target)});
  const ValueId inside = graph.add1(clip_grad, {scaled, error}, limit);
  const ValueId in_prediction = graph.add1(weigh, {inside, weights, dloss});
  const ValueId slope = graph.add1(clip, {error}, limit);
  return {in_prediction, negated(graph, in_prediction), no_value,
          graph.add1(weighted_dot, {scaled, slope, weights})};
}

std::vector<OpCase> cases() { return regression_cases({{6}, {4, 3}, {2, 3, 2}}, {{"delta", 0.6}}); }

}  // namespace

const Op huber{
    .name = "huber",
    .doc = "loss = Σ weights[n] · mean over features of the Huber function of prediction - target",
    .settings = delta_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_regression("huber", in);
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

const Op huber_grad{
    .name = "huber_grad",
    .doc = "dprediction = dloss · weights[n] / features · (prediction - target) within ±delta",
    .settings = delta_setting,
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_regression("huber_grad", in);
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
