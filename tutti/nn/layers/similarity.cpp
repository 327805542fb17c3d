// SPDX-License-Identifier: Apache-2.0
// The similarity layer of SimNets: every output says how near the input is to a learned template of
// this output, with a learned weight for each feature.
#include "tutti/ops/similarity.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {

const Layer similarity{
    .name = "similarity",
    .doc = "every output is the weighted nearness of the input to a learned template",
    .settings = {{.name = "units",
                  .initial = std::int64_t{1},
                  .doc = "outputs of the layer",
                  .min = 1,
                  .required = true},
                 {.name = "kind",
                  .initial = std::string("l1"),
                  .doc = "-|x - z| (l1), -(x - z)² (l2) or x · z (product)",
                  .choices = {"l1", "l2", "product"}}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          const Shape& shape = net.graph.shape(x);
          if (shape.size() != 2)
            throw Error("the input is {}, expected batch × features: put a flatten layer before",
                        to_string(shape));
          const Shape weights{settings.integer("units"), shape[1]};
          const ValueId z = net.parameter(
              "template", weights, {.kind = Initialiser::uniform_fan_in, .fan_in = weights[1]},
              {.weight_decay = 0});
          const ValueId u = net.parameter(
              "weight", weights,
              {.kind = Initialiser::constant, .value = 1 / static_cast<double>(weights[1])});
          return net.graph.add1(ops::similarity, {x, z, u}, {{"kind", settings.text("kind")}});
        },
};

}  // namespace tutti::nn
