// SPDX-License-Identifier: Apache-2.0
// Logistic sigmoid: y = 1 / (1 + exp(-x)). The gradient reads the output: y' = y (1 - y).
#include "tutti/ops/sigmoid.h"

#include "tutti/ops/add.h"
#include "tutti/ops/multiply.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/shared/pointwise.h"

#include <cmath>

namespace tutti::ops {

const Op sigmoid{
    .name = "sigmoid",
    .doc = "y = 1 / (1 + exp(-x))",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("sigmoid", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(sigmoid_grad, {dy[0], node.outputs[0]});
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) { map_elements(call, [](auto x) { return 1 / (1 + std::exp(-x)); }); },
    .cases = [] { return cases_pointwise(1); },
    .in_place = {{0, 0}},
};

const Op sigmoid_grad{
    .name = "sigmoid_grad",
    .doc = "dx = dy · y (1 - y)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("sigmoid_grad", in); },
    // In y: v · dy (1 - 2 y).
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          const ValueId dy = node.inputs[0], y = node.inputs[1];
          const ValueId in_dy = graph.add1(sigmoid_grad, {v[0], y});
          const ValueId product = graph.add1(multiply, {v[0], dy});
          const ValueId curved =
              graph.add1(scale, {graph.add1(multiply, {product, y})}, {{"factor", -2.0}});
          return std::vector<ValueId>{in_dy, graph.add1(add, {product, curved})};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call, [](auto dy, auto y) { return dy * y * (1 - y); });
        },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
