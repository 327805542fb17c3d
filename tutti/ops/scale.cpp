// SPDX-License-Identifier: Apache-2.0
// A tensor times a constant.
#include "tutti/ops/scale.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {

const Op scale{
    .name = "scale",
    .doc = "y = factor · x",
    .settings = {{.name = "factor", .initial = 1.0, .doc = "the constant"}},
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("scale", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(scale, {dy[0]}, node.settings);
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          const double factor = call.settings.real("factor");
          map_elements(call, [=](auto x) { return static_cast<decltype(x)>(factor) * x; });
        },
    .cases =
        [] {
          return cases_pointwise(1, {{"factor", -1.5}});
        },
    .in_place = {{0, 0}},
    .linear = true,
};

ValueId negated(Graph& graph, ValueId x) { return graph.add1(scale, {x}, {{"factor", -1.0}}); }

}  // namespace tutti::ops
