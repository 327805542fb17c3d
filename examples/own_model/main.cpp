// SPDX-License-Identifier: Apache-2.0
// A network of one's own, without touching the library: a small residual network, which a chain of
// layers in a recipe can't say. A model is a struct, appended to the list of models; a recipe then
// names it like any other.
#include "tutti/nn/describe.h"
#include "tutti/nn/layer.h"
#include "tutti/ops/add.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include <fmt/format.h>

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
    .doc = "a convolution, a residual block, pooling, a linear layer",
    .settings =
        {{.name = "channels", .initial = std::int64_t{8}, .doc = "of both convolutions", .min = 1}},
    .build =
        [](Net& net, ValueId x, const Settings& settings) {
          x = net.apply(
              nn::convolution, x,
              {{"channels", settings.integer("channels")}, {"kernel", 3}, {"padding", 1}});
          x = residual(net, x);
          x = net.apply(nn::max_pool, x, {{"kernel", 2}});
          x = net.apply(nn::flatten, x);
          return net.apply(nn::linear, x, {{"units", elements(net.output_shape)}});
        },
};

constexpr const char* recipe = R"(
[model]
name = "small_residual"
channels = 16

[data]
name = "digits"

[train]
epochs = 3
checkpoint = "none"
record = "none"

[optimizer]
rule = "momentum"
rate = 0.05

[partition]
data = 2
)";

}  // namespace

int main() {
  Lists lists = default_lists();
  lists.models.add(small_residual);
  const Job job = make_job(parse_recipe(recipe, "own_model.toml"), lists);
  fmt::print("{}\n", describe(build_net(job, net_input(job, *open_data(job, data::Split::train)))));

  TrainOptions options;
  options.print = [](const std::string& line) { fmt::print("{}\n", line); };
  return train(job, options).test_accuracy > 0.9 ? 0 : 1;
}
