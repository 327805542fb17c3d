// SPDX-License-Identifier: Apache-2.0
// ReLU whose slope for negative values is learned. The slopes have no weight decay, which would
// pull them towards ReLU.
#include "tutti/ops/parametric_relu.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {

const Layer parametric_relu{
    .name = "parametric_relu",
    .doc = "y = x where x > 0, else slope · x, with learned slopes",
    .settings = {{.name = "slope", .initial = 0.25, .doc = "first value of the slopes"},
                 {.name = "shared", .initial = false, .doc = "one slope for all channels"}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          const Shape& shape = net.graph.shape(x);
          if (shape.size() < 2) throw Error("the input is {}, expected channels", to_string(shape));
          const std::int64_t slopes = settings.flag("shared") ? 1 : shape[1];
          const ValueId slope = net.parameter(
              "slope", {slopes}, {.kind = Initialiser::constant, .value = settings.real("slope")},
              {.weight_decay = 0});
          return net.graph.add1(ops::parametric_relu, {x, slope});
        },
};

}  // namespace tutti::nn
