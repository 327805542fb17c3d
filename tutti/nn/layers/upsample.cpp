// SPDX-License-Identifier: Apache-2.0
// Larger images without parameters.
#include "tutti/ops/upsample.h"

#include "tutti/nn/layer.h"
#include "tutti/ops/shared/window.h"

namespace tutti::nn {

const Layer upsample{
    .name = "upsample",
    .doc = "an image made larger by a whole factor",
    .settings = {{.name = "factor",
                  .initial = Shape{2},
                  .doc = "pixels made of one; one number holds for all dimensions",
                  .min = 1},
                 {.name = "mode",
                  .initial = std::string("nearest"),
                  .doc = "repeat pixels (nearest) or interpolate between them (linear)",
                  .choices = {"nearest", "linear"}}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add1(ops::upsample, {x}, ops::settings_for(ops::upsample, settings));
        },
};

}  // namespace tutti::nn
