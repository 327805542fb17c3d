// SPDX-License-Identifier: Apache-2.0
// ReLU: y = max(x, 0). The gradient reads the output, so the input need not be kept.
#include "tutti/ops/relu.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {

const Op relu{
    .name = "relu",
    .doc = "y = max(x, 0)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("relu", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(relu_grad, {dy[0], node.outputs[0]});
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call, [](auto x) { return x > 0 ? x : decltype(x){0}; });
        },
    .cases = [] { return cases_pointwise(1); },
    .in_place = {{0, 0}},
};

const Op relu_grad{
    .name = "relu_grad",
    .doc = "dx = dy where y > 0, else 0",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("relu_grad", in); },
    // Linear in dy; piecewise constant in y.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return std::vector<ValueId>{graph.add1(relu_grad, {dy[0], node.inputs[1]}), no_value};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          map_elements(call, [](auto dy, auto y) { return y > 0 ? dy : decltype(dy){0}; });
        },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
