// SPDX-License-Identifier: Apache-2.0
// GoogLeNet (Szegedy et al. 2015; K11): nine inception blocks, each four branches side by side. As
// published: 5×5 convolutions, biases, no batch norm; without the two auxiliary outputs.
// Layers are named as torchvision names those of its own variant.
#include "tutti/nn/models/blocks.h"

namespace tutti::nn {
namespace {

constexpr std::int64_t smallest = 31;  // smallest image that leaves a pixel after the four pools

// Channels of the four branches; …_reduce: channels of the 1×1 convolution before a branch's own.
struct Inception {
  const char* name;
  std::int64_t one, three_reduce, three, five_reduce, five, pooled;
};

ValueId pool_by_two(Net& net, ValueId x) {
  return net.apply(max_pool, x, {{"kernel", 3}, {"stride", 2}, {"ceil", true}});
}

ValueId inception(Net& net, ValueId x, const Inception& block) {
  const auto convolve = [&](ValueId from, const char* branch, const ConvolutionShape& shape) {
    return convolution_relu(net, from, fmt::format("inception{}.{}.conv", block.name, branch),
                            shape);
  };
  const ValueId one = convolve(x, "branch1", {.channels = block.one});
  ValueId three = convolve(x, "branch2.0", {.channels = block.three_reduce});
  three = convolve(three, "branch2.1", {.channels = block.three, .kernel = 3, .padding = 1});
  ValueId five = convolve(x, "branch3.0", {.channels = block.five_reduce});
  five = convolve(five, "branch3.1", {.channels = block.five, .kernel = 5, .padding = 2});
  ValueId pooled = net.apply(max_pool, x, {{"kernel", 3}, {"stride", 1}, {"padding", 1}});
  pooled = convolve(pooled, "branch4.1", {.channels = block.pooled});
  return concatenated(net, {one, three, five, pooled}, fmt::format("inception{}", block.name));
}

ValueId build(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, smallest);
  const bool lrn = settings.flag("lrn");
  x = convolution_relu(net, x, "conv1.conv",
                       {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = pool_by_two(net, x);
  if (lrn) x = net.apply(local_response, x);
  x = convolution_relu(net, x, "conv2.conv", {.channels = 64});
  x = convolution_relu(net, x, "conv3.conv", {.channels = 192, .kernel = 3, .padding = 1});
  if (lrn) x = net.apply(local_response, x);
  x = pool_by_two(net, x);
  x = inception(net, x, {"3a", 64, 96, 128, 16, 32, 32});
  x = inception(net, x, {"3b", 128, 128, 192, 32, 96, 64});
  x = pool_by_two(net, x);
  x = inception(net, x, {"4a", 192, 96, 208, 16, 48, 64});
  x = inception(net, x, {"4b", 160, 112, 224, 24, 64, 64});
  x = inception(net, x, {"4c", 128, 128, 256, 24, 64, 64});
  x = inception(net, x, {"4d", 112, 144, 288, 32, 64, 64});
  x = inception(net, x, {"4e", 256, 160, 320, 32, 128, 128});
  x = pool_by_two(net, x);
  x = inception(net, x, {"5a", 256, 160, 320, 32, 128, 128});
  x = inception(net, x, {"5b", 384, 192, 384, 48, 128, 128});
  x = net.apply(global_average_pool, x);
  return output_layer(net, net.apply(dropout, x, {{"rate", settings.real("dropout")}}), "fc");
}

}  // namespace

const Model googlenet{.name = "googlenet",
                      .doc =
                          "GoogLeNet: nine inception blocks of four branches; 6,998,552 "
                          "parameters",
                      .settings = {lrn_setting("the first pool and the third convolution"),
                                   dropout_setting(0.4, "before the output layer")},
                      .build = build,
                      .sample_shape = imagenet_shape,
                      .classes = imagenet_classes};

}  // namespace tutti::nn
