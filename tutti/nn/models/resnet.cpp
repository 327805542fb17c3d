// SPDX-License-Identifier: Apache-2.0
// Residual networks: every block adds to its input. The small ones (20 to 110 layers) are those for
// 32×32 images, whose shortcuts have no parameters; the large ones (18 to 152) those for 224×224.
// Parameters are named as torchvision names them.
#include "tutti/nn/models/blocks.h"
#include "tutti/ops/slice.h"

#include <array>

namespace tutti::nn {
namespace {

struct Stage {
  std::int64_t channels, stride;
};

// A shortcut without parameters: the image at every second position where the stage has a stride,
// with zeros as further channels.
ValueId padded_shortcut(Net& net, ValueId x, const std::string& name, const Stage& stage) {
  if (stage.stride > 1)
    x = net.apply(average_pool, x,
                  {{"name", name + ".subsample"}, {"kernel", 1}, {"stride", stage.stride}});
  if (net.graph.shape(x)[1] == stage.channels) return x;
  return net.layer(name + ".pad", "pad", [&] {
    return net.graph.add1(ops::slice_grad, {x}, {{"axis", 1}, {"extent", stage.channels}});
  });
}

ValueId projected_shortcut(Net& net, ValueId x, const std::string& name, const Stage& stage) {
  if (stage.stride == 1 && net.graph.shape(x)[1] == stage.channels) return x;
  return convolution_norm(net, x, name + ".downsample.0", name + ".downsample.1",
                          {.channels = stage.channels, .kernel = 1, .stride = stage.stride});
}

// The two 3×3 convolutions of a basic block.
ValueId two_convolutions(Net& net, ValueId x, const std::string& name, const Stage& stage) {
  x = convolution_norm(
      net, x, name + ".conv1", name + ".bn1",
      {.channels = stage.channels, .kernel = 3, .stride = stage.stride, .padding = 1});
  x = net.apply(relu, x);
  return convolution_norm(net, x, name + ".conv2", name + ".bn2",
                          {.channels = stage.channels, .kernel = 3, .padding = 1});
}

ValueId bottleneck(Net& net, ValueId x, const std::string& name, const Stage& stage,
                   bool stride_first) {
  const std::int64_t narrow = stage.channels / 4;
  const std::int64_t first = stride_first ? stage.stride : 1,
                     second = stride_first ? 1 : stage.stride;
  x = convolution_norm(net, x, name + ".conv1", name + ".bn1",
                       {.channels = narrow, .kernel = 1, .stride = first});
  x = net.apply(relu, x);
  x = convolution_norm(net, x, name + ".conv2", name + ".bn2",
                       {.channels = narrow, .kernel = 3, .stride = second, .padding = 1});
  x = net.apply(relu, x);
  return convolution_norm(net, x, name + ".conv3", name + ".bn3",
                          {.channels = stage.channels, .kernel = 1});
}

// A small network of 6 · blocks + 2 layers.
template <int blocks>
ValueId build_small(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, 4);
  const std::int64_t width = settings.integer("width");
  x = net.apply(relu, convolution_norm(net, x, "conv1", "bn1",
                                       {.channels = width, .kernel = 3, .padding = 1}));
  for (int s = 0; s < 3; ++s)
    for (int b = 0; b < blocks; ++b) {
      const Stage stage{.channels = width << s, .stride = s > 0 && b == 0 ? 2 : 1};
      const std::string name = fmt::format("layer{}.{}", s + 1, b);
      const ValueId shortcut = padded_shortcut(net, x, name, stage);
      x = add_relu(net, two_convolutions(net, x, name, stage), shortcut, name + ".add");
    }
  return average_and_output(net, x, "fc");
}

template <bool deep, int... blocks>
ValueId build_large(Net& net, ValueId x, const Settings& settings) {
  check_is_image(net, x, 32);
  x = net.apply(relu, convolution_norm(net, x, "conv1", "bn1",
                                       {.channels = 64, .kernel = 7, .stride = 2, .padding = 3}));
  x = net.apply(max_pool, x, {{"kernel", 3}, {"stride", 2}, {"padding", 1}});
  const std::array counts{blocks...};
  for (std::size_t s = 0; s < counts.size(); ++s)
    for (int b = 0; b < counts[s]; ++b) {
      const Stage stage{.channels = std::int64_t{deep ? 256 : 64} << s,
                        .stride = s > 0 && b == 0 ? 2 : 1};
      const std::string name = fmt::format("layer{}.{}", s + 1, b);
      const ValueId shortcut = projected_shortcut(net, x, name, stage);
      const ValueId main = deep
                               ? bottleneck(net, x, name, stage, settings.text("stride") == "first")
                               : two_convolutions(net, x, name, stage);
      x = add_relu(net, main, shortcut, name + ".add");
    }
  return average_and_output(net, x, "fc");
}

template <int layers, int... blocks>
Model large() {
  constexpr bool deep = layers >= 50;
  Model model{.name = fmt::format("resnet{}", layers),
              .doc = fmt::format("residual network of {} layers for 224×224 images", layers),
              .build = build_large<deep, blocks...>,
              .sample_shape = imagenet_shape,
              .classes = imagenet_classes};
  if (deep)
    model.settings = {{.name = "stride",
                       .initial = std::string("first"),
                       .doc = "which convolution of a block halves the image: the first, as "
                              "published, or the middle one, as torchvision has it",
                       .choices = {"first", "middle"}}};
  return model;
}

template <int layers>
Model small() {
  return {.name = fmt::format("resnet{}", layers),
          .doc = fmt::format("residual network of {} layers for 32×32 images", layers),
          .settings = {{.name = "width",
                        .initial = std::int64_t{16},
                        .doc = "channels of the first stage, 16 as published",
                        .min = 1}},
          .build = build_small<(layers - 2) / 6>,
          .sample_shape = cifar_shape,
          .classes = cifar_classes};
}

}  // namespace

std::vector<Model> resnets() {
  return {small<20>(),
          small<32>(),
          small<44>(),
          small<56>(),
          small<110>(),
          large<18, 2, 2, 2, 2>(),
          large<34, 3, 4, 6, 3>(),
          large<50, 3, 4, 6, 3>(),
          large<101, 3, 4, 23, 3>(),
          large<152, 3, 8, 36, 3>()};
}

}  // namespace tutti::nn
