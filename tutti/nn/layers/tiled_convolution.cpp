// SPDX-License-Identifier: Apache-2.0
// Convolution whose weights differ from position to position: always (locally connected), or until
// they repeat after a period (tiled). weight[tile, channels, c/groups, kernel…].
#include "tutti/ops/tiled_convolution.h"

#include "tutti/nn/layers/kernel.h"
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/shared/window.h"

namespace tutti::nn {
namespace {

std::vector<Setting> settings_with(std::vector<Setting> more) {
  std::vector<Setting> all = kernel_settings();
  for (const Setting& setting : weight_settings())
    if (setting.name != "weight_norm") more.push_back(setting);
  for (const std::vector<Setting>& rest : {ops::convolution_settings(), std::move(more)})
    all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

ValueId apply(Net& net, ValueId x, Settings settings) {
  const Type& type = net.graph.type(x);
  ops::check_image("tiled_convolution", "the input", type);
  const Shape spatial = ops::spatial_of(type.shape);
  const std::int64_t groups = settings.integer("groups"), channels = settings.integer("channels");
  const Shape kernel = kernel_extents(settings, spatial);
  check_groups(type.shape[1], channels, groups);
  const Shape pixels =
      ops::output_extents("tiled_convolution",
                          ops::convolution_windows("tiled_convolution", settings, kernel), spatial);
  const Shape shape =
      with_kernel({ops::tiles_of(settings, pixels), channels, type.shape[1] / groups}, kernel);
  const std::int64_t fan_in = shape[2] * elements(kernel);
  settings.set("weight_norm", false);
  const ValueId weight =
      add_weight(net, settings, shape, fan_in, channels / groups * elements(kernel));
  const ValueId y = net.graph.add1(ops::tiled_convolution, {x, weight},
                                   ops::settings_for(ops::tiled_convolution, settings));
  return add_bias(net, settings, y, fan_in);
}

}  // namespace

const Layer tiled_convolution{
    .name = "tiled_convolution",
    .doc = "a convolution whose weights repeat only after a period of positions",
    .settings = settings_with({{.name = "period",
                                .initial = Shape{2},
                                .doc = "positions after which weights repeat, per dimension",
                                .min = 1}}),
    .apply = [](Net& net, ValueId x, const Settings& settings) { return apply(net, x, settings); }};

const Layer locally_connected{.name = "locally_connected",
                              .doc = "a convolution with weights of its own for every position",
                              .settings = settings_with({}),
                              .apply = [](Net& net, ValueId x, const Settings& settings) {
                                Settings all = settings;
                                all.set("period", Shape{0});
                                return apply(net, x, all);
                              }};

}  // namespace tutti::nn
