// SPDX-License-Identifier: Apache-2.0
// Element-wise product of two tensors of one shape.
#include "tutti/ops/multiply.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {

const Op multiply{
    .name = "multiply",
    .doc = "y = a · b, element by element",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("multiply", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const ValueId a = node.inputs[0], b = node.inputs[1];
          const ValueId in_a = graph.add1(multiply, {dy[0], b});
          return std::vector<ValueId>{in_a, graph.add1(multiply, {dy[0], a})};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference = [](const Call& call) { map_elements(call, [](auto a, auto b) { return a * b; }); },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}, {1, 0}},
};

}  // namespace tutti::ops
