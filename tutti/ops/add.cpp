// SPDX-License-Identifier: Apache-2.0
// Sum of two tensors of one shape (residual connections, sums of gradients).
#include "tutti/ops/add.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {

const Op add{
    .name = "add",
    .doc = "y = a + b",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("add", in); },
    .gradient =
        [](Graph&, const Node&, const std::vector<ValueId>& dy) {
          return std::vector<ValueId>{dy[0], dy[0]};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference = [](const Call& call) { map_elements(call, [](auto a, auto b) { return a + b; }); },
    .cases = [] { return cases_pointwise(2); },
    .in_place = {{0, 0}, {1, 0}},
    .linear = true,
};

}  // namespace tutti::ops
