// SPDX-License-Identifier: Apache-2.0
// Convolutions whose kernel is a product of smaller ones. Separable (B31): each channel by itself
// with depthwise[c, 1, kernel…], then pointwise[channels, c, 1…]. Tucker (B32): to fewer channels
// with first[r, c, 1…], core[s, r, kernel…], and up again with last[channels, s, 1…]. Reshaped
// (B33): the kernel as a matrix of (c, row) × (channels, column) has low rank, which is a
// convolution along the height with first[r, c, k, 1] and one along the width with last[channels,
// r, 1, l].
#include "tutti/nn/layers/kernel.h"
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/shared/window.h"

#include <algorithm>
#include <string_view>

namespace tutti::nn {
namespace {

std::vector<Setting> settings_with(std::vector<Setting> more) {
  std::vector<Setting> all = kernel_settings();
  for (const Setting& setting : ops::convolution_settings())
    if (setting.name != "groups") all.push_back(setting);
  for (const std::vector<Setting>& rest : {weight_settings(), std::move(more)})
    all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// A convolution with its own weight, called `name`.
ValueId convolved(Net& net, ValueId x, const Settings& settings, const std::string& name,
                  std::int64_t channels, const Shape& kernel, const Settings& told = {}) {
  const std::int64_t groups = told.has("groups") ? told.integer("groups") : 1;
  const Shape shape = with_kernel({channels, net.graph.shape(x)[1] / groups}, kernel);
  const std::int64_t fan_in = elements(shape, 1, shape.size());
  const ValueId weight =
      add_weight(net, settings, shape, fan_in, channels / groups * elements(kernel), name);
  return net.graph.add1(ops::convolution, {x, weight}, told);
}

Settings window_settings(const Settings& settings) {
  Settings told;
  for (const char* name : {"stride", "padding", "dilation"})
    told.set(name, settings.integers(name));
  return told;
}

ValueId apply_separable(Net& net, ValueId x, const Settings& settings) {
  ops::check_image("separable_convolution", "the input", net.graph.type(x));
  const Shape spatial = ops::spatial_of(net.graph.shape(x));
  const std::int64_t inputs = net.graph.shape(x)[1];
  Settings told = window_settings(settings);
  told.set("groups", inputs);
  const ValueId each =
      convolved(net, x, settings, "depthwise", inputs, kernel_extents(settings, spatial), told);
  const ValueId y = convolved(net, each, settings, "pointwise", settings.integer("channels"),
                              Shape(spatial.size(), 1));
  return add_bias(net, settings, y, inputs);
}

ValueId apply_tucker(Net& net, ValueId x, const Settings& settings) {
  ops::check_image("tucker_convolution", "the input", net.graph.type(x));
  const Shape spatial = ops::spatial_of(net.graph.shape(x)), one(spatial.size(), 1);
  const std::int64_t inputs = net.graph.shape(x)[1], channels = settings.integer("channels");
  const Shape& ranks = settings.integers("ranks");
  if (ranks.size() != 2 || ranks[0] > inputs || ranks[1] > channels)
    throw Error("'ranks' is {}, expected two numbers, at most {} input and {} output channels",
                to_string(SettingValue(ranks)), inputs, channels);
  const ValueId few = convolved(net, x, settings, "first", ranks[0], one);
  const ValueId core = convolved(net, few, settings, "core", ranks[1],
                                 kernel_extents(settings, spatial), window_settings(settings));
  return add_bias(net, settings, convolved(net, core, settings, "last", channels, one), ranks[1]);
}

// The settings of a window along one of two dimensions; along the other dimension it is one pixel
// wide.
Settings along(const Settings& settings, std::size_t d) {
  Settings told;
  for (const char* name : {"stride", "padding", "dilation"}) {
    const Shape& list = settings.integers(name);
    if (list.empty() || list.size() > 2)
      throw Error("'{}' is {}, expected 1 or 2 entries", name, to_string(SettingValue(list)));
    Shape one(2, std::string_view(name) == "padding" ? 0 : 1);
    one[d] = list.size() == 1 ? list[0] : list[d];
    told.set(name, one);
  }
  return told;
}

ValueId apply_reshaped(Net& net, ValueId x, const Settings& settings) {
  const Shape& shape = net.graph.shape(x);
  if (shape.size() != 4)
    throw Error("the input is {}, expected batch × channels × height × width", to_string(shape));
  const Shape kernel = kernel_extents(settings, ops::spatial_of(shape));
  const std::int64_t channels = settings.integer("channels"), rank = settings.integer("rank");
  const std::int64_t full = std::min(shape[1] * kernel[0], channels * kernel[1]);
  if (rank > full)
    throw Error("'rank' is {}, expected at most {}, that of all kernels", rank, full);
  const ValueId rows =
      convolved(net, x, settings, "first", rank, {kernel[0], 1}, along(settings, 0));
  const ValueId y =
      convolved(net, rows, settings, "last", channels, {1, kernel[1]}, along(settings, 1));
  return add_bias(net, settings, y, rank * kernel[1]);
}

}  // namespace

const Layer separable_convolution{
    .name = "separable_convolution",
    .doc = "a window over each channel by itself, then a weighted sum of channels",
    .settings = settings_with({}),
    .apply = apply_separable};

const Layer tucker_convolution{
    .name = "tucker_convolution",
    .doc = "a convolution between fewer channels, with 1×1 convolutions before and after",
    .settings = settings_with({{.name = "ranks",
                                .initial = Shape{},
                                .doc = "channels into and out of the inner convolution",
                                .min = 1,
                                .required = true}}),
    .apply = apply_tucker};

const Layer reshaped_convolution{
    .name = "reshaped_convolution",
    .doc = "a window along the height to few channels, then one along the width",
    .settings = settings_with({{.name = "rank",
                                .initial = std::int64_t{1},
                                .doc = "channels between the two windows",
                                .min = 1,
                                .required = true}}),
    .apply = apply_reshaped};

}  // namespace tutti::nn
