// SPDX-License-Identifier: Apache-2.0
// GELU in its exact form: y = x Φ(x), with Φ and φ the normal distribution and its density. Then
// y' = Φ + x φ and y'' = (2 - x²) φ.
#include "tutti/ops/gelu.h"

#include "tutti/ops/multiply.h"
#include "tutti/ops/shared/pointwise.h"

#include <cmath>
#include <numbers>

namespace tutti::ops {
namespace {

template <class T>
T distribution(T x) {
  return (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2;
}

template <class T>
T density(T x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
}

}  // namespace

const Op gelu{
    .name = "gelu",
    .doc = "y = x · (1 + erf(x / √2)) / 2",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("gelu", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(gelu_grad, {dy[0], node.inputs[0]});
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) { map_elements(call, [](auto x) { return x * distribution(x); }); },
    .cases = [] { return cases_pointwise(1); },
    .in_place = {{0, 0}},
};

const Op gelu_grad{
    .name = "gelu_grad",
    .doc = "dx = dy (Φ(x) + x φ(x))",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("gelu_grad", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const ValueId dy = node.inputs[0], x = node.inputs[1];
          const ValueId in_dy = graph.add1(gelu_grad, {v[0], x});
          const ValueId in_x = graph.add1(gelu_grad2, {graph.add1(multiply, {v[0], dy}), x});
          return std::vector<ValueId>{in_dy, in_x};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call,
                       [](auto dy, auto x) { return dy * (distribution(x) + x * density(x)); });
        },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}},
};

const Op gelu_grad2{
    .name = "gelu_grad2",
    .doc = "v (2 - x²) φ(x): the second derivative",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("gelu_grad2", in); },
    .undifferentiable = "GELU has no third derivative here",
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call, [](auto v, auto x) { return v * (2 - x * x) * density(x); });
        },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
