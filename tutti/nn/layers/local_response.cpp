// SPDX-License-Identifier: Apache-2.0
// Local response normalisation, as in AlexNet.
#include "tutti/ops/local_response.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {

const Layer local_response{
    .name = "local_response",
    .doc = "each channel is divided by a power of the squares of its neighbours (LRN)",
    .settings =
        {{.name = "size", .initial = std::int64_t{5}, .doc = "channels in a window, odd", .min = 1},
         {.name = "alpha", .initial = 1e-4, .doc = "factor of the sum of squares"},
         {.name = "beta", .initial = 0.75, .doc = "exponent"},
         {.name = "k", .initial = 2.0, .doc = "added to the sum", .min = 0}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add1(ops::local_response, {x},
                                {{"size", settings.integer("size")},
                                 {"alpha", settings.real("alpha")},
                                 {"beta", settings.real("beta")},
                                 {"k", settings.real("k")}});
        },
};

}  // namespace tutti::nn
