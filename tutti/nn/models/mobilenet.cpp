// SPDX-License-Identifier: Apache-2.0
// MobileNet 1 (Howard et al. 2017): every 3×3 convolution sees one channel only (depth-wise), a 1×1
// convolution mixes them; batch norm and ReLU after each.
#include "tutti/nn/models/blocks.h"

#include <algorithm>
#include <cmath>

namespace tutti::nn {
namespace {

struct Separable {
  std::int64_t channels, stride;
};

constexpr Separable blocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                {512, 1}, {1024, 2}, {1024, 1}};

ValueId convolution_norm_relu(Net& net, ValueId x, const std::string& block, int number,
                              const ConvolutionShape& shape) {
  return net.apply(relu, convolution_norm(net, x, fmt::format("{}.{}", block, number),
                                          fmt::format("{}.{}", block, number + 1), shape));
}

ValueId build(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x);
  const auto wide = [&](std::int64_t channels) {
    return std::max<std::int64_t>(
        1, std::llround(settings.real("width") * static_cast<double>(channels)));
  };
  x = convolution_norm_relu(net, x, "features.0", 0,
                            {.channels = wide(32), .kernel = 3, .stride = 2, .padding = 1});
  int number = 0;
  for (const Separable& block : blocks) {
    const std::string name = fmt::format("features.{}", ++number);
    const std::int64_t channels = net.graph.shape(x)[1];
    x = convolution_norm_relu(net, x, name, 0,
                              {.channels = channels,
                               .kernel = 3,
                               .stride = block.stride,
                               .padding = 1,
                               .groups = channels});
    x = convolution_norm_relu(net, x, name, 3, {.channels = wide(block.channels)});
  }
  return average_and_output(net, x, "classifier");
}

}  // namespace

const Model mobilenet{
    .name = "mobilenet",
    .doc = "MobileNet 1: depth-wise separable convolutions; 4,231,976 parameters at width 1",
    .settings =
        {{.name = "width", .initial = 1.0, .doc = "factor of all channels", .min = 0.01, .max = 4}},
    .build = build,
    .sample_shape = imagenet_shape,
    .classes = imagenet_classes};

}  // namespace tutti::nn
