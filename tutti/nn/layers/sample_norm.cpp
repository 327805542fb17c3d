// SPDX-License-Identifier: Apache-2.0
// Normalisation that does not look across samples, so it is the same in training and evaluation and
// for every batch size: over a whole sample, over groups of channels, or by the root mean square.
#include "tutti/ops/sample_norm.h"

#include "tutti/nn/layer.h"
#include "tutti/ops/shared/axis.h"

namespace tutti::nn {
namespace {

Setting epsilon_setting() {
  return {.name = "epsilon", .initial = 1e-5, .doc = "added to the variance", .min = 0};
}
Setting axis_setting() {
  return {.name = "axis",
          .initial = std::int64_t{1},
          .doc = "first dimension that is normalised; negative ones count from the last"};
}

// x normalised, times "weight" and plus "bias" of `count` elements.
ValueId normalised(Net& net, ValueId x, std::int64_t count, bool with_bias, Settings settings) {
  std::vector<ValueId> inputs{x};
  inputs.push_back(
      net.parameter("weight", {count}, {.kind = Initialiser::one}, {.weight_decay = 0}));
  if (with_bias)
    inputs.push_back(
        net.parameter("bias", {count}, {.kind = Initialiser::zero}, {.weight_decay = 0}));
  return net.graph.add1(ops::sample_norm, inputs, std::move(settings));
}

// Elements of a sample from the axis on.
std::int64_t features_of(const Net& net, ValueId x, const Settings& settings) {
  const Shape& shape = net.graph.shape(x);
  const std::size_t axis = ops::axis_of("sample_norm", settings, shape);
  if (axis == 0)
    throw Error("'axis' is {}, the batch of an input {}: expected a later dimension",
                settings.integer("axis"), to_string(shape));
  return elements(shape, axis, shape.size());
}

}  // namespace

const Layer layer_norm{
    .name = "layer_norm",
    .doc = "mean 0 and variance 1 over each sample, then a learned gain and shift per element",
    .settings = {axis_setting(),
                 epsilon_setting(),
                 {.name = "bias", .initial = true, .doc = "whether a shift is learned"}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return normalised(
              net, x, features_of(net, x, settings), settings.flag("bias"),
              {{"axis", settings.integer("axis")}, {"epsilon", settings.real("epsilon")}});
        },
};

const Layer rms_norm{
    .name = "rms_norm",
    .doc = "root mean square 1 over each sample, then a learned gain per element",
    .settings = {axis_setting(), epsilon_setting()},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return normalised(net, x, features_of(net, x, settings), false,
                            {{"axis", settings.integer("axis")},
                             {"epsilon", settings.real("epsilon")},
                             {"center", false}});
        },
};

const Layer group_norm{
    .name = "group_norm",
    .doc =
        "mean 0 and variance 1 over groups of channels, then a learned gain and shift per "
        "channel",
    .settings = {{.name = "groups",
                  .initial = std::int64_t{32},
                  .doc = "channels fall into this many; 1 takes the whole sample, one for each "
                         "channel is instance normalisation",
                  .min = 1},
                 epsilon_setting()},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          const Shape& shape = net.graph.shape(x);
          if (shape.size() < 2) throw Error("the input is {}, expected channels", to_string(shape));
          return normalised(
              net, x, shape[1], true,
              {{"groups", settings.integer("groups")}, {"epsilon", settings.real("epsilon")}});
        },
};

}  // namespace tutti::nn
