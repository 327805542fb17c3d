// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/layers/weight.h"

#include "tutti/ops/bias.h"
#include "tutti/ops/gain.h"
#include "tutti/ops/sample_norm.h"
#include "tutti/ops/scale.h"

#include <cmath>

namespace tutti::nn {
namespace {

Initialiser::Kind kind_of(const Settings& settings) {
  const std::string& init = settings.text("init");
  if (init == "he") return Initialiser::he;
  if (init == "xavier") return Initialiser::xavier;
  if (init == "zero") return Initialiser::zero;
  return Initialiser::uniform_fan_in;
}

// The norm that `count` first values of this initialiser are expected to have.
double first_norm(const Initialiser& how, std::int64_t count) {
  const double fan_in = static_cast<double>(how.fan_in);
  double variance = 1;
  if (how.kind == Initialiser::he) variance = 2 / fan_in;
  if (how.kind == Initialiser::xavier) variance = 2 / (fan_in + static_cast<double>(how.fan_out));
  if (how.kind == Initialiser::uniform_fan_in) variance = 1 / (3 * fan_in);
  return std::sqrt(variance * static_cast<double>(count));
}

// The weight magnitude · v / |v|. For each output, v / |v| is v over its root mean square, divided
// by √count.
ValueId normalised_weight(Net& net, Shape shape, const Initialiser& how,
                          const ParameterAttributes& attributes, const std::string& name) {
  if (how.kind == Initialiser::zero)
    throw Error("'weight_norm' divides by the norm of the weights, but 'init' is zero");
  const std::int64_t outputs = shape[0], count = elements(shape, 1, shape.size());
  const ValueId v = net.parameter(name + "_v", std::move(shape), how, attributes);
  const ValueId magnitude =
      net.parameter(name + "_magnitude", {outputs},
                    {.kind = Initialiser::constant, .value = first_norm(how, count)},
                    {.trainable = attributes.trainable, .weight_decay = 0});
  const ValueId direction =
      net.graph.add1(ops::sample_norm, {v}, {{"center", false}, {"epsilon", 0.0}});
  const ValueId unit = net.graph.add1(ops::scale, {direction},
                                      {{"factor", 1 / std::sqrt(static_cast<double>(count))}});
  return net.graph.add1(ops::gain, {unit, magnitude}, {{"axis", std::int64_t{0}}});
}

}  // namespace

std::vector<Setting> weight_settings() {
  return {{.name = "bias", .initial = true, .doc = "whether a bias is added"},
          {.name = "init",
           .initial = std::string("uniform"),
           .doc = "first weights: uniform in ±1/√fan_in, normal with variance 2/fan_in (he) or "
                  "2/(fan_in + fan_out) (xavier), or zero",
           .choices = {"uniform", "he", "xavier", "zero"}},
          {.name = "trainable", .initial = true, .doc = "false: the layer keeps its weights"},
          {.name = "weight_norm",
           .initial = false,
           .doc = "learn the direction and the length of each output's weights apart"}};
}

ValueId add_weight(Net& net, const Settings& settings, Shape shape, std::int64_t fan_in,
                   std::int64_t fan_out, const std::string& name) {
  const Initialiser how{.kind = kind_of(settings), .fan_in = fan_in, .fan_out = fan_out};
  const ParameterAttributes attributes{.trainable = settings.flag("trainable")};
  if (settings.flag("weight_norm"))
    return normalised_weight(net, std::move(shape), how, attributes, name);
  return net.parameter(name, std::move(shape), how, attributes);
}

ValueId add_bias(Net& net, const Settings& settings, ValueId y, std::int64_t fan_in) {
  if (!settings.flag("bias")) return y;
  const bool random = kind_of(settings) == Initialiser::uniform_fan_in;
  const ValueId bias = net.parameter(
      "bias", {net.graph.shape(y)[1]},
      {.kind = random ? Initialiser::uniform_fan_in : Initialiser::zero, .fan_in = fan_in},
      {.trainable = settings.flag("trainable"), .weight_decay = 0});
  return net.graph.add1(ops::bias, {y, bias});
}

}  // namespace tutti::nn
