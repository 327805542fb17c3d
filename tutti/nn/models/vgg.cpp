// SPDX-License-Identifier: Apache-2.0
// VGG-16 (Simonyan, Zisserman 2015): 3×3 convolutions only, with twice the channels whenever the
// image is halved (up to 512), and three linear layers that hold nine tenths of the parameters.
// Parameters are named as torchvision names them.
#include "tutti/nn/models/blocks.h"

namespace tutti::nn {
namespace {

constexpr std::int64_t smallest = 32;  // smallest image that leaves a pixel after five pools by two

ValueId build(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, smallest);
  const double rate = settings.real("dropout");
  const std::int64_t units = settings.integer("units");
  constexpr std::int64_t channels[] = {64, 128, 256, 512, 512}, convolutions[] = {2, 2, 3, 3, 3};
  int number = 0;  // torchvision counts convolutions, activations and pools
  for (int stage = 0; stage < 5; ++stage) {
    for (std::int64_t i = 0; i < convolutions[stage]; ++i, number += 2)
      x = convolution_relu(net, x, fmt::format("features.{}", number),
                           {.channels = channels[stage], .kernel = 3, .padding = 1});
    x = net.apply(max_pool, x, {{"kernel", 2}});
    ++number;
  }
  x = linear_relu(net, net.apply(flatten, x), "classifier.0", units);
  x = linear_relu(net, net.apply(dropout, x, {{"rate", rate}}), "classifier.3", units);
  return output_layer(net, net.apply(dropout, x, {{"rate", rate}}), "classifier.6");
}

}  // namespace

const Model vgg16{
    .name = "vgg16",
    .doc = "VGG-16: thirteen 3×3 convolutions, three linear layers; 138,357,544 parameters",
    .settings = {units_setting(), dropout_setting(0.5, "after the first two linear layers")},
    .build = build,
    .sample_shape = imagenet_shape,
    .classes = imagenet_classes};

}  // namespace tutti::nn
