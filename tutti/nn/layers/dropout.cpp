// SPDX-License-Identifier: Apache-2.0
// Dropout: in training each value is dropped with probability `rate`; otherwise the identity.
#include "tutti/ops/dropout.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {

const Layer dropout{
    .name = "dropout",
    .doc = "in training, zero with probability 'rate' and the rest enlarged to keep the mean",
    .settings =
        {{.name = "rate", .initial = 0.5, .doc = "probability of zero", .min = 0, .max = 0.99}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          if (!net.training || settings.real("rate") == 0) return x;
          return net.graph.add1(ops::dropout, {x}, {{"rate", settings.real("rate")}});
        },
};

}  // namespace tutti::nn
