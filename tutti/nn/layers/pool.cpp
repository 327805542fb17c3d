// SPDX-License-Identifier: Apache-2.0
// Pooling: the largest or the mean value of each window.
#include "tutti/nn/layer.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/shared/window.h"

namespace tutti::nn {
namespace {

std::vector<Setting> window_settings() {
  return {
      {.name = "kernel",
       .initial = Shape{},
       .doc = "extents of the window; one number holds for all dimensions",
       .min = 1,
       .required = true},
      {.name = "stride", .initial = Shape{}, .doc = "steps between windows; [] = kernel", .min = 1},
      {.name = "padding", .initial = Shape{0}, .doc = "positions on both sides", .min = 0},
      {.name = "ceil", .initial = false, .doc = "a last window may hang over the far edge"}};
}

}  // namespace

const Layer max_pool{
    .name = "max_pool",
    .doc = "the largest value of each window",
    .settings = window_settings(),
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add(ops::max_pool, {x}, ops::settings_for(ops::max_pool, settings))[0];
        },
};

const Layer average_pool{
    .name = "average_pool",
    .doc = "the mean of each window",
    .settings = window_settings(),
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add1(ops::average_pool, {x},
                                ops::settings_for(ops::average_pool, settings));
        },
};

const Layer global_average_pool{
    .name = "global_average_pool",
    .doc = "the mean of each channel; the output is batch × channels",
    .apply =
        [](Net& net, ValueId x, const Settings&) {
          const ValueId mean = net.graph.add1(ops::average_pool, {x}, {{"global", true}});
          return flatten.apply(net, mean, {});
        },
};

}  // namespace tutti::nn
