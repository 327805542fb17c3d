// SPDX-License-Identifier: Apache-2.0
// Squared error: loss = Σ_n weights[n] · mean over features of (prediction - target)². The mean
// over a batch has weights 1 / n. Weights are data: no gradient flows to them.
#include "tutti/ops/mean_squared_error.h"

#include "tutti/ops/add.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/traffic.h"
#include "tutti/ops/weigh.h"

namespace tutti::ops {
namespace {

std::int64_t features_of(const Shape& shape) { return elements(shape, 1, shape.size()); }

void check_inputs(const char* name, const std::vector<Type>& in) {
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

Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  const std::int64_t count = elements(in[0].shape);
  const int reduction = out[0].shape.empty() ? log2_ceiling(count) : 0;
  return with_traffic({.work = 3.0 * static_cast<double>(count), .depth = 2.0 + reduction}, in,
                      out);
}

// Only samples may be split: the mean over features knows how many there are.
std::string sharding(const std::vector<Type>& in, const char* rule) {
  std::string indices = "n";
  for (std::size_t d = 1; d < in[0].shape.size(); ++d) indices += ",*";
  return fmt::format(fmt::runtime(rule), indices);
}

void reference(const Call& call) {
  const std::int64_t features = features_of(call.in[0].shape);
  dispatch_float(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *p = call.in[0].as<T>(), *t = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    double loss = 0;
    for (std::int64_t i = 0; i < call.in[0].count(); ++i) {
      const double error = static_cast<double>(p[i]) - static_cast<double>(t[i]);
      loss += static_cast<double>(weights[i / features]) * error * error;
    }
    *call.out[0].as<T>() = static_cast<T>(loss / static_cast<double>(features));
  });
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

ValueId negated(Graph& graph, ValueId x) { return graph.add1(scale, {x}, {{"factor", -1.0}}); }

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

std::vector<OpCase> cases(bool with_dloss) {
  std::vector<OpCase> all;
  for (const Shape& shape : {Shape{4}, Shape{4, 3}, Shape{2, 3, 2}}) {
    OpCase one{.settings = {},
               .in = {{DType::f64, shape}, {DType::f64, shape}, {DType::f64, {shape[0]}}}};
    if (with_dloss) one.in.push_back({DType::f64, {}});
    all.push_back(one);
  }
  return all;
}

}  // namespace

const Op mean_squared_error{
    .name = "mean_squared_error",
    .doc = "loss = Σ weights[n] · mean over features of (prediction - target)²",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_inputs("mean_squared_error", in);
          return std::vector<Type>{{in[0].dtype, {}}};
        },
    .gradient = gradient,
    .undifferentiable = "sample weights are data: no gradient flows to them",
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          return sharding(in, "p[{0}] t[{0}] weight[n] -> loss[]");
        },
    .reference = reference,
    .cases = [] { return cases(false); },
};

const Op mean_squared_error_grad{
    .name = "mean_squared_error_grad",
    .doc = "dprediction = dloss · weights[n] · 2 / features · (prediction - target)",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_inputs("mean_squared_error_grad", in);
          check(in.size() == 4 && in[3] == Type{in[0].dtype, {}}, "dloss is a scalar");
          return std::vector<Type>{in[0]};
        },
    .gradient = gradient_of_grad,
    .undifferentiable = "sample weights are data: no gradient flows to them",
    .cost = cost,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          return sharding(in, "p[{0}] t[{0}] weight[n] dloss[] -> dp[{0}]");
        },
    .reference = reference_grad,
    .cases = [] { return cases(true); },
    .in_place = {{0, 0}, {1, 0}},
};

}  // namespace tutti::ops
