// SPDX-License-Identifier: Apache-2.0
// The form s Σ_n w_n a_n · b_n over samples n, with weights w and a scalar s: `weighted_dot` is the
// derivative of this form in s, `weigh` its derivative in b. Each is the other's gradient. Weights
// are data: no gradient flows to them.
#include "tutti/ops/weigh.h"

#include "tutti/ops/shared/losses.h"
#include "tutti/ops/shared/pointwise.h"
#include "tutti/ops/shared/traffic.h"

namespace tutti::ops {
namespace {

void check_weights(const char* name, const Type& x, const Type& weights) {
  if (x.shape.empty() || !is_float(x.dtype) || weights.dtype != x.dtype ||
      weights.shape != Shape{x.shape[0]})
    throw Error("[{}] weights are {} {}, expected one per sample of {} {}", name,
                name_of(weights.dtype), to_string(weights.shape), name_of(x.dtype),
                to_string(x.shape));
}

// "n,b,c": the first dimension is n.
std::string indices_of(const Shape& shape) {
  std::string indices = "n";
  for (std::size_t d = 1; d < shape.size(); ++d)
    indices += fmt::format(",{}", static_cast<char>('a' + d));
  return indices;
}

void reference_weigh(const Call& call) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *x = call.in[0].as<T>(), *weights = call.in[1].as<T>(), s = *call.in[2].as<T>();
    T* y = call.out[0].as<T>();
    const std::int64_t features = features_of(call.in[0].shape);
    for (std::int64_t i = 0; i < call.out[0].count(); ++i) y[i] = s * weights[i / features] * x[i];
  });
}

void reference_dot(const Call& call) {
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *a = call.in[0].as<T>(), *b = call.in[1].as<T>(), *weights = call.in[2].as<T>();
    const std::int64_t features = features_of(call.in[0].shape);
    double sum = 0;
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      sum += static_cast<double>(weights[i / features] * a[i]) * static_cast<double>(b[i]);
    *call.out[0].as<T>() = static_cast<T>(sum);
  });
}

}  // namespace

const Op weigh{
    .name = "weigh",
    .doc = "y[n, …] = s · weights[n] · x[n, …]",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 3, "weigh has three inputs");
          check_weights("weigh", in[0], in[1]);
          if (!(in[2] == Type{in[0].dtype, {}}))
            throw Error("[weigh] s is {} {}, expected a scalar {}", name_of(in[2].dtype),
                        to_string(in[2].shape), name_of(in[0].dtype));
          return std::vector<Type>{in[0]};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const ValueId x = node.inputs[0], weights = node.inputs[1], s = node.inputs[2];
          const ValueId in_x = graph.add1(weigh, {v[0], weights, s});
          return std::vector<ValueId>{in_x, no_value, graph.add1(weighted_dot, {v[0], x, weights})};
        },
    .undifferentiable = weights_are_data,
    .cost = cost_pointwise,
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string indices = indices_of(in[0].shape);
          return fmt::format("x[{}] w[n] s[] -> y[{}]", indices, indices);
        },
    .reference = reference_weigh,
    .cases =
        [] {
          const Type scalar{DType::f64, {}}, vector{DType::f64, {4}};
          return std::vector<OpCase>{{{}, {vector, vector, scalar}},
                                     {{}, {{DType::f64, {4, 3, 2}}, vector, scalar}}};
        },
    .in_place = {{0, 0}},
};

const Op weighted_dot{
    .name = "weighted_dot",
    .doc = "y = Σ weights[n] · a[n, …] · b[n, …]",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check(in.size() == 3, "weighted_dot has three inputs");
          infer_pointwise("weighted_dot", {in[0], in[1]});
          check_weights("weighted_dot", in[0], in[2]);
          return std::vector<Type>{{in[0].dtype, {}}};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const ValueId a = node.inputs[0], b = node.inputs[1], weights = node.inputs[2];
          const ValueId in_a = graph.add1(weigh, {b, weights, v[0]});
          return std::vector<ValueId>{in_a, graph.add1(weigh, {a, weights, v[0]}), no_value};
        },
    .undifferentiable = weights_are_data,
    .cost =
        [](const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
          const std::int64_t count = elements(in[0].shape);
          return with_traffic(
              {.work = 2.0 * static_cast<double>(count), .depth = 1.0 + log2_ceiling(count)}, in,
              out);
        },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string indices = indices_of(in[0].shape);
          return fmt::format("a[{}] b[{}] w[n] -> y[]", indices, indices);
        },
    .reference = reference_dot,
    .cases =
        [] {
          const Type vector{DType::f64, {4}}, cube{DType::f64, {4, 3, 2}};
          return std::vector<OpCase>{{{}, {vector, vector, vector}}, {{}, {cube, cube, vector}}};
        },
};

}  // namespace tutti::ops
