// SPDX-License-Identifier: Apache-2.0
// A network of one's own, without touching the library: a small residual network, which a chain of
// layers in a recipe can't say. A model is a struct, appended to the list of models.
#include "tutti/nn/describe.h"
#include "tutti/nn/layer.h"
#include "tutti/nn/net.h"
#include "tutti/ops/add.h"

#include <fmt/format.h>

#include <vector>

using namespace tutti;

namespace {

// x + convolution(relu(x)), of as many channels as x has.
ValueId residual(Net& net, ValueId x) {
  const std::int64_t channels = net.graph.shape(x)[1];
  ValueId y = net.apply(nn::relu, x);
  y = net.apply(nn::convolution, y, {{"channels", channels}, {"kernel", 3}, {"padding", 1}});
  return net.layer("join", "add", [&] { return net.graph.add1(ops::add, {x, y}); });
}

const Model small_residual{
    .name = "small_residual",
    .doc = "a convolution, a residual block, the mean over the image, a linear layer",
    .settings =
        {{.name = "channels", .initial = std::int64_t{8}, .doc = "of both convolutions", .min = 1}},
    .build =
        [](Net& net, ValueId x, const Settings& settings) {
          x = net.apply(
              nn::convolution, x,
              {{"channels", settings.integer("channels")}, {"kernel", 3}, {"padding", 1}});
          x = residual(net, x);
          x = net.apply(nn::global_average_pool, x);
          return net.apply(nn::linear, x, {{"units", elements(net.output_shape)}});
        },
};

}  // namespace

int main() {
  List<Model> all = models();
  all.add(small_residual);

  const Net net = build_net(all.find("small_residual"), {{"channels", 16}},
                            {.sample_shape = {1, 8, 8}, .classes = 10, .batch = 32});
  fmt::print("{}", describe(net));

  std::vector<float> w(static_cast<std::size_t>(net.table.count()));
  initialise(net, /*seed=*/1, w.data());

  // 1·9·16 + 16, 16·9·16 + 16 and 16·10 + 10.
  return net.table.parameters(/*trainable_only=*/true) == 2650 ? 0 : 1;
}
