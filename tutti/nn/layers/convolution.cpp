// SPDX-License-Identifier: Apache-2.0
// Convolution over 1 to 3 spatial dimensions with weight[channels, c/groups, kernel…].
#include "tutti/ops/convolution.h"

#include "tutti/nn/layers/kernel.h"
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/shared/window.h"

namespace tutti::nn {
namespace {

std::vector<Setting> settings() {
  std::vector<Setting> all = kernel_settings();
  for (const std::vector<Setting>& more : {ops::convolution_settings(), weight_settings()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

ValueId apply(Net& net, ValueId x, const Settings& settings) {
  const Type& type = net.graph.type(x);
  ops::check_image("convolution", "the input", type);
  const Shape spatial = ops::spatial_of(type.shape);
  const std::int64_t groups = settings.integer("groups"), channels = settings.integer("channels");
  const Shape kernel = kernel_extents(settings, spatial);
  check_groups(type.shape[1], channels, groups);
  const Shape shape = with_kernel({channels, type.shape[1] / groups}, kernel);
  const std::int64_t fan_in = shape[1] * elements(kernel);
  const ValueId weight =
      add_weight(net, settings, shape, fan_in, channels / groups * elements(kernel));
  const ValueId y =
      net.graph.add1(ops::convolution, {x, weight}, ops::settings_for(ops::convolution, settings));
  return add_bias(net, settings, y, fan_in);
}

}  // namespace

const Layer convolution{.name = "convolution",
                        .doc = "every output is a weighted sum over a window of the image",
                        .settings = settings(),
                        .apply = apply};

}  // namespace tutti::nn
