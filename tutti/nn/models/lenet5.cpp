// SPDX-License-Identifier: Apache-2.0
// LeNet-5 in its first form (LeCun, Bottou, Bengio, Haffner 1998; K11): 60,000 trainable
// parameters. Subsampling learns a coefficient and a bias per map, C3 sees only some maps of S2,
// every layer squashes by 1.7159 tanh(2x/3), and the output compares F6 with fixed bitmaps of the
// digits.
#include "tutti/nn/layer.h"
#include "tutti/nn/models/digit_codes.h"
#include "tutti/nn/models/models.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/concatenate.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/slice.h"
#include "tutti/ops/tanh.h"

namespace tutti::nn {
namespace {

using Maps = std::vector<std::vector<std::int64_t>>;

const Layer squash{
    .name = "squash",
    .doc = "y = 1.7159 tanh(2x/3)",
    .apply =
        [](Net& net, ValueId x, const Settings&) {
          x = net.graph.add1(ops::scale, {x}, {{"factor", 2.0 / 3.0}});
          x = net.graph.add1(ops::tanh, {x});
          return net.graph.add1(ops::scale, {x}, {{"factor", 1.7159}});
        },
};

// The mean of 2×2 pixels times the map's coefficient plus the map's bias: 2 parameters per map.
ValueId subsample(Net& net, const std::string& name, ValueId x) {
  return net.layer(name, "subsample", [&] {
    const std::int64_t maps = net.graph.shape(x)[1];
    const ValueId mean = net.graph.add1(ops::average_pool, {x}, {{"kernel", 2}});
    const ValueId coefficient =
        net.parameter("coefficient", {maps, 1, 1, 1}, {.kind = Initialiser::one});
    const ValueId bias = net.parameter("bias", {maps}, {}, {.weight_decay = 0});
    const ValueId y = net.graph.add1(ops::convolution, {mean, coefficient}, {{"groups", maps}});
    return net.graph.add1(ops::bias, {y, bias});
  });
}

// Which maps of S2 each map of C3 sees, in groups of maps that see equally many: three neighbours,
// four neighbours or two pairs, all six. The first map is a neighbour of the last.
std::vector<Maps> connections() {
  Maps three, four;
  for (std::int64_t i = 0; i < 6; ++i) three.push_back({i, (i + 1) % 6, (i + 2) % 6});
  for (std::int64_t i = 0; i < 6; ++i) four.push_back({i, (i + 1) % 6, (i + 2) % 6, (i + 3) % 6});
  for (std::int64_t i = 0; i < 3; ++i) four.push_back({i, i + 1, i + 3, (i + 4) % 6});
  return {three, four, {{0, 1, 2, 3, 4, 5}}};
}

// The maps of C3 that see equally many maps of S2: concatenates these inputs and convolves them in
// one group for each map.
ValueId convolve_some(Net& net, const std::vector<ValueId>& planes, const Maps& maps) {
  const auto count = static_cast<std::int64_t>(maps.size());
  const auto inputs_each = static_cast<std::int64_t>(maps[0].size());
  std::vector<ValueId> seen;
  for (const std::vector<std::int64_t>& map : maps)
    for (const std::int64_t plane : map) seen.push_back(planes[static_cast<std::size_t>(plane)]);
  const std::int64_t fan_in = inputs_each * 25;
  const std::string prefix = fmt::format("from{}.", inputs_each);
  const ValueId weight = net.parameter(prefix + "weight", {count, inputs_each, 5, 5},
                                       {.kind = Initialiser::uniform_fan_in, .fan_in = fan_in});
  const ValueId bias =
      net.parameter(prefix + "bias", {count},
                    {.kind = Initialiser::uniform_fan_in, .fan_in = fan_in}, {.weight_decay = 0});
  const ValueId x = net.graph.add1(ops::concatenate, seen);
  const ValueId y = net.graph.add1(ops::convolution, {x, weight}, {{"groups", count}});
  return net.graph.add1(ops::bias, {y, bias});
}

ValueId partial_convolution(Net& net, const std::string& name, ValueId x) {
  return net.layer(name, "partial_convolution", [&] {
    std::vector<ValueId> planes, parts;
    for (std::int64_t c = 0; c < 6; ++c)
      planes.push_back(net.graph.add1(ops::slice, {x}, {{"begin", c}, {"end", c + 1}}));
    for (const Maps& maps : connections()) parts.push_back(convolve_some(net, planes, maps));
    return net.graph.add1(ops::concatenate, parts);
  });
}

// The logits −½‖f − code‖², less what is the same for all classes: codes are ±1, so that is f·code.
ValueId compare_with_codes(Net& net, const std::string& name, ValueId x) {
  return net.layer(name, "codes", [&] {
    const ValueId codes =
        net.parameter("codes", {net.classes, digit_code_length},
                      {.kind = Initialiser::given, .values = digit_codes(net.classes)},
                      {.trainable = false, .weight_decay = 0});
    return net.graph.add1(ops::matmul, {x, codes}, {{"transpose_b", true}});
  });
}

ValueId build(Net& net, ValueId x, const Settings&) {
  check_is_image(net, x);
  const Shape image = net.graph.shape(x);
  const bool padded = image[2] == 28 && image[3] == 28;
  if (image[1] != 1 || (!padded && (image[2] != 32 || image[3] != 32)))
    throw Error("images are {}×{}×{}, expected 1×32×32 or 1×28×28: resize them, or choose lenet",
                image[1], image[2], image[3]);
  if (net.classes < 1 || net.classes > digit_code_count)
    throw Error("there are {} classes, expected 1 to {}, for which it has bitmaps: choose lenet",
                net.classes, digit_code_count);
  x = net.apply(convolution, x,
                {{"name", "c1"}, {"channels", 6}, {"kernel", 5}, {"padding", padded ? 2 : 0}});
  x = net.apply(squash, x);
  x = net.apply(squash, subsample(net, "s2", x));
  x = net.apply(squash, partial_convolution(net, "c3", x));
  x = net.apply(squash, subsample(net, "s4", x));
  x = net.apply(convolution, x, {{"name", "c5"}, {"channels", 120}, {"kernel", 5}});
  x = net.apply(flatten, net.apply(squash, x));
  x = net.apply(linear, x, {{"name", "f6"}, {"units", digit_code_length}});
  return compare_with_codes(net, "output", net.apply(squash, x));
}

}  // namespace

const Model lenet5{.name = "lenet5",
                   .doc =
                       "LeNet-5 of 1998: trained subsampling, partial connections, bitmaps as "
                       "output codes; 60,000 trainable parameters",
                   .build = build,
                   .sample_shape = {1, 32, 32},
                   .classes = 10};

}  // namespace tutti::nn
