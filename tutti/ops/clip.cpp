// SPDX-License-Identifier: Apache-2.0
// Values cut off at ±limit.
#include "tutti/ops/clip.h"

#include "tutti/ops/shared/pointwise.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

const std::vector<Setting> limit_setting{
    {.name = "limit", .initial = 1.0, .doc = "largest magnitude", .min = 0}};

}  // namespace

const Op clip{
    .name = "clip",
    .doc = "y = x, but not beyond ±limit",
    .settings = limit_setting,
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("clip", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(clip_grad, {dy[0], node.inputs[0]}, node.settings);
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          const double limit = call.settings.real("limit");
          map_elements(call, [=](auto x) {
            const auto bound = static_cast<decltype(x)>(limit);
            return std::clamp(x, -bound, bound);
          });
        },
    .cases =
        [] {
          return cases_pointwise(1, {{"limit", 0.5}});
        },
    .in_place = {{0, 0}},
};

const Op clip_grad{
    .name = "clip_grad",
    .doc = "dx = dy where |x| < limit, else 0",
    .settings = limit_setting,
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("clip_grad", in); },
    // Linear in dy; piecewise constant in x.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          return std::vector<ValueId>{graph.add1(clip_grad, {v[0], node.inputs[1]}, node.settings),
                                      no_value};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          const double limit = call.settings.real("limit");
          map_elements(call, [=](auto dy, auto x) {
            return std::abs(x) < static_cast<decltype(x)>(limit) ? dy : decltype(dy){0};
          });
        },
    .cases =
        [] {
          return cases_pointwise(2, {{"limit", 0.5}});
        },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
