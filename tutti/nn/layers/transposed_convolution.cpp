// SPDX-License-Identifier: Apache-2.0
// Transposed convolution with weight[c, channels/groups, kernel…]: what a convolution does to
// gradients, done to the image. Every pixel lays a weighted copy of the kernel into the output.
#include "tutti/nn/layers/kernel.h"
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/shared/window.h"

namespace tutti::nn {
namespace {

std::vector<Setting> settings() {
  std::vector<Setting> all = kernel_settings();
  all.push_back({.name = "output_padding",
                 .initial = Shape{0},
                 .doc = "rows and columns added at the end of the output; less than the stride",
                 .min = 0});
  for (const std::vector<Setting>& more : {ops::convolution_settings(), weight_settings()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::int64_t entry(const Settings& settings, const char* name, std::size_t d,
                   std::size_t dimensions) {
  const Shape& list = settings.integers(name);
  if (list.size() != 1 && list.size() != dimensions)
    throw Error("'{}' is {}, expected 1 or {} entries", name, to_string(SettingValue(list)),
                dimensions);
  return list.size() == 1 ? list[0] : list[d];
}

// The extents of the output: (H - 1) s - 2 p + d (K - 1) + 1 + output padding.
Shape output_extents(const Settings& settings, const Shape& spatial, const Shape& kernel) {
  Shape extents;
  const std::size_t dimensions = spatial.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t stride = entry(settings, "stride", d, dimensions);
    const std::int64_t more = entry(settings, "output_padding", d, dimensions);
    if (more >= stride)
      throw Error("'output_padding' is {}, expected less than the stride {}", more, stride);
    extents.push_back((spatial[d] - 1) * stride - 2 * entry(settings, "padding", d, dimensions) +
                      entry(settings, "dilation", d, dimensions) * (kernel[d] - 1) + 1 + more);
    if (extents.back() < 1)
      throw Error("the output would have an extent of {}: the padding is too large for {}",
                  extents.back(), to_string(spatial));
  }
  return extents;
}

ValueId apply(Net& net, ValueId x, const Settings& settings) {
  const Type& type = net.graph.type(x);
  ops::check_image("transposed_convolution", "the input", type);
  const Shape spatial = ops::spatial_of(type.shape);
  const std::int64_t groups = settings.integer("groups"), channels = settings.integer("channels");
  const std::int64_t inputs = type.shape[1];
  const Shape kernel = kernel_extents(settings, spatial);
  check_groups(inputs, channels, groups);
  const Shape shape = with_kernel({inputs, channels / groups}, kernel);
  const std::int64_t fan_in = inputs / groups * elements(kernel);
  const ValueId weight =
      add_weight(net, settings, shape, fan_in, channels / groups * elements(kernel));
  Settings told = ops::settings_for(ops::convolution_grad_input, settings);
  told.set("spatial", output_extents(settings, spatial, kernel));
  const ValueId y = net.graph.add1(ops::convolution_grad_input, {x, weight}, told);
  return add_bias(net, settings, y, fan_in);
}

}  // namespace

const Layer transposed_convolution{.name = "transposed_convolution",
                                   .doc = "every pixel lays a weighted window into a larger image",
                                   .settings = settings(),
                                   .apply = apply};

}  // namespace tutti::nn
