// SPDX-License-Identifier: Apache-2.0
// Variance reduction (SVRG): the gradient g of a step is corrected by `there`, the gradient of the
// same samples at older weights, and by this rank's part of `mean`, the mean gradient at those
// older weights.
#include "tutti/ops/correct.h"

#include "tutti/ops/scale.h"
#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {

const Op correct{
    .name = "correct",
    .doc = "d = g + (part · mean − there)",
    .settings = {{.name = "part", .initial = 1.0, .doc = "this rank's part of the samples"}},
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("correct", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const ValueId there = negated(graph, dy[0]);
          const ValueId mean = graph.add1(scale, {dy[0]}, {{"factor", node.settings.real("part")}});
          return std::vector<ValueId>{dy[0], there, mean};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            using T = decltype(zero);
            const T part = static_cast<T>(call.settings.real("part"));
            const T *g = call.in[0].as<T>(), *there = call.in[1].as<T>(),
                    *mean = call.in[2].as<T>();
            T* d = call.out[0].as<T>();
            for (std::int64_t i = 0; i < call.out[0].count(); ++i)
              d[i] = g[i] + (part * mean[i] - there[i]);
          });
        },
    .cases =
        [] {
          return cases_pointwise(3, {{"part", 0.25}});
        },
    .in_place = {{0, 0}},
    .linear = true,
};

}  // namespace tutti::ops
