// SPDX-License-Identifier: Apache-2.0
// Leaky ReLU: y = x where x > 0, else slope · x.
#include "tutti/ops/leaky_relu.h"

#include "tutti/ops/shared/pointwise.h"

namespace tutti::ops {
namespace {

const std::vector<Setting> slope_setting = {
    {.name = "slope", .initial = 0.01, .doc = "factor of negative values"}};

}  // namespace

const Op leaky_relu{
    .name = "leaky_relu",
    .doc = "y = x where x > 0, else slope · x",
    .settings = slope_setting,
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("leaky_relu", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(leaky_relu_grad, {dy[0], node.inputs[0]}, node.settings);
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          const double slope = call.settings.real("slope");
          map_elements(call,
                       [=](auto x) { return x > 0 ? x : static_cast<decltype(x)>(slope) * x; });
        },
    .cases =
        [] {
          return cases_pointwise(1, {{"slope", 0.2}});
        },
    .in_place = {{0, 0}},
};

const Op leaky_relu_grad{
    .name = "leaky_relu_grad",
    .doc = "dx = dy where x > 0, else slope · dy",
    .settings = slope_setting,
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return infer_pointwise("leaky_relu_grad", in); },
    // Linear in dy; piecewise constant in x.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& v) {
          return std::vector<ValueId>{
              graph.add1(leaky_relu_grad, {v[0], node.inputs[1]}, node.settings), no_value};
        },
    .cost = cost_pointwise,
    .sharding = sharding_pointwise,
    .reference =
        [](const Call& call) {
          const double slope = call.settings.real("slope");
          map_elements(call, [=](auto dy, auto x) {
            return x > 0 ? dy : static_cast<decltype(x)>(slope) * dy;
          });
        },
    .cases =
        [] {
          return cases_pointwise(2, {{"slope", 0.2}});
        },
    .in_place = {{0, 0}},
};

}  // namespace tutti::ops
