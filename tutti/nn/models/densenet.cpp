// SPDX-License-Identifier: Apache-2.0
// Densely connected networks (Huang et al. 2017; K11): a layer sees the outputs of all layers
// before it in its block and adds `growth` channels to them; between blocks channels and image are
// halved. The large ones are for 224×224 images; those called bc_DEPTH_GROWTH for 32×32. Parameters
// are named as torchvision names them.
#include "tutti/nn/models/blocks.h"

#include <array>

namespace tutti::nn {
namespace {

ValueId norm_relu(Net& net, ValueId x, const std::string& name) {
  return net.apply(relu, net.apply(batch_norm, x, {{"name", name}}));
}

ValueId dense_layer(Net& net, ValueId x, const std::string& name, std::int64_t growth,
                    double drop_rate) {
  ValueId y = plain_convolution(net, norm_relu(net, x, name + ".norm1"), name + ".conv1",
                                {.channels = 4 * growth});
  y = plain_convolution(net, norm_relu(net, y, name + ".norm2"), name + ".conv2",
                        {.channels = growth, .kernel = 3, .padding = 1});
  return concatenated(net, {x, net.apply(dropout, y, {{"rate", drop_rate}})}, name);
}

ValueId transition(Net& net, ValueId x, const std::string& name) {
  const std::int64_t channels = net.graph.shape(x)[1];
  x = plain_convolution(net, norm_relu(net, x, name + ".norm"), name + ".conv",
                        {.channels = channels / 2});
  return net.apply(average_pool, x, {{"kernel", 2}});
}

// Blocks of `counts` layers with transitions between them, and the output.
template <std::size_t count>
ValueId dense_blocks(Net& net, ValueId x, const std::array<int, count>& counts, std::int64_t growth,
                     double drop_rate) {
  for (std::size_t b = 1; b <= count; ++b) {
    if (b > 1) x = transition(net, x, fmt::format("features.transition{}", b - 1));
    for (int layer = 1; layer <= counts[b - 1]; ++layer)
      x = dense_layer(net, x, fmt::format("features.denseblock{}.denselayer{}", b, layer), growth,
                      drop_rate);
  }
  return average_and_output(net, norm_relu(net, x, fmt::format("features.norm{}", count + 1)),
                            "classifier");
}

template <int growth, int... layers>
ValueId build_large(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, 29);  // from 29×29 on a pixel is left in the last block
  x = convolution_norm(net, x, "features.conv0", "features.norm0",
                       {.channels = 2 * growth, .kernel = 7, .stride = 2, .padding = 3});
  x = net.apply(max_pool, net.apply(relu, x), {{"kernel", 3}, {"stride", 2}, {"padding", 1}});
  return dense_blocks(net, x, std::array{layers...}, growth, settings.real("dropout"));
}

template <int depth, int growth>
ValueId build_small(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, 4);
  constexpr int layers = (depth - 4) / 6;
  x = plain_convolution(net, x, "features.conv0",
                        {.channels = 2 * growth, .kernel = 3, .padding = 1});
  return dense_blocks(net, x, std::array{layers, layers, layers}, growth, settings.real("dropout"));
}

std::vector<Setting> settings() { return {dropout_setting(0, "after each 3×3 convolution")}; }

template <int depth, int... layers>
Model large() {
  return {.name = fmt::format("densenet{}", depth),
          .doc = fmt::format("densely connected network of {} layers for 224×224 images", depth),
          .settings = settings(),
          .build = build_large<32, layers...>,
          .sample_shape = imagenet_shape,
          .classes = imagenet_classes};
}

template <int depth, int growth>
Model small() {
  return {.name = fmt::format("densenet_bc{}_{}", depth, growth),
          .doc = fmt::format("densely connected network of {} layers, {} channels each, for 32×32 "
                             "images",
                             depth, growth),
          .settings = settings(),
          .build = build_small<depth, growth>,
          .sample_shape = cifar_shape,
          .classes = cifar_classes};
}

}  // namespace

std::vector<Model> densenets() {
  return {large<121, 6, 12, 24, 16>(),
          large<169, 6, 12, 32, 32>(),
          large<201, 6, 12, 48, 32>(),
          large<264, 6, 12, 64, 48>(),
          small<100, 12>(),
          small<250, 24>(),
          small<190, 40>()};
}

}  // namespace tutti::nn
