// SPDX-License-Identifier: Apache-2.0
// Hyperbolic tangent. The gradient reads the output: y' = 1 - y².
#include "tutti/ops/tanh.h"

#include "tutti/ops/multiply.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/pointwise.h"

#include <cmath>

namespace tutti::ops {

const Op tanh{
    .name = "tanh",
    .doc = "y = tanh(x)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("tanh", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(tanh_grad, {dy[0], node.outputs[0]});
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference = [](const Call& call) { map_elements(call, [](auto x) { return std::tanh(x); }); },
    .cases = [] { return cases_pointwise(1); },
    .in_place = {{0, 0}},
};

const Op tanh_grad{
    .name = "tanh_grad",
    .doc = "dx = dy (1 - y²)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("tanh_grad", in); },
    // In y: -2 v · dy · y.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const ValueId dy = node.inputs[0], y = node.inputs[1];
          const ValueId in_dy = graph.add1(tanh_grad, {v[0], y});
          const ValueId product = graph.add1(multiply, {v[0], dy});
          const ValueId in_y =
              graph.add1(scale, {graph.add1(multiply, {product, y})}, {{"factor", -2.0}});
          return std::vector<ValueId>{in_dy, in_y};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call, [](auto dy, auto y) { return dy * (1 - y * y); });
        },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
