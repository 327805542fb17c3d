// SPDX-License-Identifier: Apache-2.0
// The seed of the backward pass: the derivative of the loss by itself, which is 1, times the loss
// scale of this step. With a scale, small gradients survive in 16 bits; updates divide by it again.
#include "tutti/ops/loss_scale.h"

namespace tutti::ops {

const Op loss_scale{
    .name = "loss_scale",
    .doc = "the scale of the loss in this step: 1 unless train.loss_scale says otherwise",
    .settings = {{.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "element type",
                  .choices = {"f32", "f64"}}},
    .infer =
        [](const Settings& settings, const std::vector<Type>&) {
          return std::vector<Type>{{dtype_named(settings.text("dtype")), {}}};
        },
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{}; },
    .cost =
        [](const Settings&, const std::vector<Type>&, const std::vector<Type>& out) {
          return Cost{.depth = 1, .bytes_written = static_cast<double>(out[0].bytes())};
        },
    .sharding = [](const Settings&, const std::vector<Type>&) { return std::string("-> y[]"); },
    .reference =
        [](const Call& call) {
          dispatch_float(call.out[0].dtype, [&](auto zero) {
            *call.out[0].as<decltype(zero)>() = static_cast<decltype(zero)>(call.step.loss_scale);
          });
        },
    .cases =
        [] {
          return std::vector<OpCase>{{{{"dtype", std::string("f64")}}, {}}};
        },
};

}  // namespace tutti::ops
