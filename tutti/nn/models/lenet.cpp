// SPDX-License-Identifier: Apache-2.0
// LeNet as it is commonly trained today: ReLU, max-pooling, full connections between the maps and a
// linear output. On 28×28 images the first convolution's padding gives the 28×28 maps of LeNet-5.
#include "tutti/nn/layer.h"
#include "tutti/nn/models/models.h"

namespace tutti::nn {
namespace {

constexpr std::int64_t smallest = 12;  // smallest image that leaves a pixel after both pools

ValueId build(Net& net, ValueId x, const Settings&) {
  check_is_image(net, x, smallest);
  x = net.apply(convolution, x,
                {{"name", "conv1"}, {"channels", 6}, {"kernel", 5}, {"padding", 2}});
  x = net.apply(relu, x);
  x = net.apply(max_pool, x, {{"kernel", 2}});
  x = net.apply(convolution, x, {{"name", "conv2"}, {"channels", 16}, {"kernel", 5}});
  x = net.apply(relu, x);
  x = net.apply(max_pool, x, {{"kernel", 2}});
  x = net.apply(flatten, x);
  x = net.apply(linear, x, {{"name", "fc1"}, {"units", 120}});
  x = net.apply(relu, x);
  x = net.apply(linear, x, {{"name", "fc2"}, {"units", 84}});
  x = net.apply(relu, x);
  return output_layer(net, x, "fc3");
}

}  // namespace

const Model lenet{.name = "lenet",
                  .doc =
                      "two convolutions and three linear layers with ReLU; 61,706 parameters "
                      "for 1×28×28 images of 10 classes",
                  .build = build};

}  // namespace tutti::nn
