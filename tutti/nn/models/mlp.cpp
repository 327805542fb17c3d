// SPDX-License-Identifier: Apache-2.0
// Multi-layer perceptron: linear layers with an activation between them.
#include "tutti/nn/layer.h"
#include "tutti/nn/models/models.h"

namespace tutti::nn {

const Model mlp{
    .name = "mlp",
    .doc = "linear layers with an activation between them",
    .settings = {{.name = "hidden",
                  .initial = std::vector<std::int64_t>{1024, 1024},
                  .doc = "units of each hidden layer",
                  .min = 1},
                 {.name = "activation",
                  .initial = std::string("relu"),
                  .doc = "between the layers",
                  .choices = {"relu", "leaky_relu", "sigmoid", "tanh", "gelu"}}},
    .build =
        [](Net& net, ValueId x, const Settings& settings) {
          const List<Layer> all = layers();
          const Layer& activation = all.find(settings.text("activation"));
          x = net.apply(flatten, x);
          int number = 1;
          for (const std::int64_t units : settings.integers("hidden")) {
            x = net.apply(linear, x, {{"name", fmt::format("fc{}", number++)}, {"units", units}});
            x = net.apply(activation, x);
          }
          return output_layer(net, x, fmt::format("fc{}", number));
        },
};

}  // namespace tutti::nn
