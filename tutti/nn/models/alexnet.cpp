// SPDX-License-Identifier: Apache-2.0
// AlexNet (Krizhevsky, Sutskever, Hinton 2012; C21, K11): five convolutions, overlapping max-pools
// and three linear layers with dropout. It was published for two devices, each with half the maps:
// layers 2, 4 and 5 see only their half, which is a convolution in two groups.
// Parameters are named as torchvision names those of its own, narrower AlexNet.
#include "tutti/nn/models/blocks.h"

namespace tutti::nn {
namespace {

constexpr std::int64_t smallest = 63;  // smallest image that leaves a pixel after the three pools

// A max-pool with overlapping windows; with `lrn`, local response normalisation comes first.
ValueId overlapping_pool(Net& net, ValueId x, bool lrn) {
  if (lrn) x = net.apply(local_response, x);
  return net.apply(max_pool, x, {{"kernel", 3}, {"stride", 2}});
}

ValueId build(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, smallest);
  const std::int64_t groups = settings.integer("groups");
  const double rate = settings.real("dropout");
  const std::int64_t units = settings.integer("units");
  const bool lrn = settings.flag("lrn");
  x = convolution_relu(net, x, "features.0",
                       {.channels = 96, .kernel = 11, .stride = 4, .padding = 2});
  x = overlapping_pool(net, x, lrn);
  x = convolution_relu(net, x, "features.3",
                       {.channels = 256, .kernel = 5, .padding = 2, .groups = groups});
  x = overlapping_pool(net, x, lrn);
  x = convolution_relu(net, x, "features.6", {.channels = 384, .kernel = 3, .padding = 1});
  x = convolution_relu(net, x, "features.8",
                       {.channels = 384, .kernel = 3, .padding = 1, .groups = groups});
  x = convolution_relu(net, x, "features.10",
                       {.channels = 256, .kernel = 3, .padding = 1, .groups = groups});
  x = net.apply(flatten, overlapping_pool(net, x, false));
  x = linear_relu(net, net.apply(dropout, x, {{"rate", rate}}), "classifier.1", units);
  x = linear_relu(net, net.apply(dropout, x, {{"rate", rate}}), "classifier.4", units);
  return output_layer(net, x, "classifier.6");
}

}  // namespace

const Model alexnet{
    .name = "alexnet",
    .doc = "AlexNet: five convolutions, three linear layers, dropout; 60,965,224 parameters",
    .settings = {{.name = "groups",
                  .initial = std::int64_t{2},
                  .doc = "halves that layers 2, 4 and 5 keep apart, as published for two devices; "
                         "1: all maps see all",
                  .min = 1,
                  .max = 2},
                 lrn_setting("the first two convolutions"),
                 units_setting(),
                 dropout_setting(0.5, "before the first two linear layers")},
    .build = build,
    .sample_shape = imagenet_shape,
    .classes = imagenet_classes};

}  // namespace tutti::nn
