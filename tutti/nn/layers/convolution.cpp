// SPDX-License-Identifier: Apache-2.0
// Convolution over 1 to 3 spatial dimensions with weight[channels, c/groups, kernel…].
#include "tutti/ops/convolution.h"

#include "tutti/nn/layers/weight.h"
#include "tutti/ops/window.h"

namespace tutti::nn {
namespace {

std::vector<Setting> settings() {
  std::vector<Setting> all{
      {.name = "channels",
       .initial = std::int64_t{1},
       .doc = "output channels",
       .min = 1,
       .required = true},
      {.name = "kernel",
       .initial = Shape{},
       .doc = "extents of the window; one number holds for all dimensions",
       .min = 1,
       .required = true},
  };
  for (const std::vector<Setting>& more : {ops::convolution_settings(), weight_settings()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

ValueId apply(Net& net, ValueId x, const Settings& settings) {
  const Type& type = net.graph.type(x);
  ops::check_image("convolution", "the input", type);
  const Shape spatial = ops::spatial_of(type.shape);
  const std::int64_t groups = settings.integer("groups"), channels = settings.integer("channels");
  Shape kernel = settings.integers("kernel");
  if (kernel.size() == 1) kernel.resize(spatial.size(), kernel[0]);
  if (kernel.size() != spatial.size())
    throw Error("'kernel' is {}, expected 1 or {} entries for an image of {}",
                to_string(SettingValue(kernel)), spatial.size(), to_string(spatial));
  if (type.shape[1] % groups != 0 || channels % groups != 0)
    throw Error("{} input and {} output channels can't be divided into {} groups", type.shape[1],
                channels, groups);
  Shape shape{channels, type.shape[1] / groups};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
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
