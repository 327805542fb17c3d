// SPDX-License-Identifier: Apache-2.0
// SqueezeNet 1.0 (Iandola et al. 2016; B30): fire modules squeeze by 1×1 convolutions, then expand
// by 1×1 and 3×3 side by side; 48.8 times fewer parameters than AlexNet. Parameters are named as
// torchvision names them.
#include "tutti/nn/models/blocks.h"

namespace tutti::nn {
namespace {

constexpr std::int64_t smallest = 21;  // smallest image that leaves a pixel after the three pools

ValueId pool_by_two(Net& net, ValueId x) {
  return net.apply(max_pool, x, {{"kernel", 3}, {"stride", 2}, {"ceil", true}});
}

// A fire module; `expanded` is the number of channels of each of its two expanding convolutions.
ValueId fire(Net& net, ValueId x, int number, std::int64_t squeezed, std::int64_t expanded) {
  const std::string name = fmt::format("features.{}", number);
  x = convolution_relu(net, x, name + ".squeeze", {.channels = squeezed});
  const ValueId one = convolution_relu(net, x, name + ".expand1x1", {.channels = expanded});
  const ValueId three = convolution_relu(net, x, name + ".expand3x3",
                                         {.channels = expanded, .kernel = 3, .padding = 1});
  return concatenated(net, {one, three}, name);
}

ValueId build(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, smallest);
  x = convolution_relu(net, x, "features.0", {.channels = 96, .kernel = 7, .stride = 2});
  x = pool_by_two(net, x);
  x = fire(net, x, 3, 16, 64);
  x = fire(net, x, 4, 16, 64);
  x = fire(net, x, 5, 32, 128);
  x = pool_by_two(net, x);
  x = fire(net, x, 7, 32, 128);
  x = fire(net, x, 8, 48, 192);
  x = fire(net, x, 9, 48, 192);
  x = fire(net, x, 10, 64, 256);
  x = pool_by_two(net, x);
  x = fire(net, x, 12, 64, 256);
  x = net.apply(dropout, x, {{"rate", settings.real("dropout")}});
  x = net.apply(
      convolution, x,
      {{"name", "classifier.1"}, {"channels", elements(net.output_shape)}, {"kernel", 1}});
  x = net.apply(global_average_pool, net.apply(relu, x));
  return in_output_shape(net, x);
}

}  // namespace

const Model squeezenet{.name = "squeezenet",
                       .doc =
                           "SqueezeNet 1.0: eight fire modules and no linear layer; 1,248,424 "
                           "parameters",
                       .settings = {dropout_setting(0.5, "before the last convolution")},
                       .build = build,
                       .sample_shape = imagenet_shape,
                       .classes = imagenet_classes};

}  // namespace tutti::nn
