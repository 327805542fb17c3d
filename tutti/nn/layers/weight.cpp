// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/layers/weight.h"

#include "tutti/ops/bias.h"

namespace tutti::nn {
namespace {

Initialiser::Kind kind_of(const Settings& settings) {
  const std::string& init = settings.text("init");
  if (init == "he") return Initialiser::he;
  if (init == "xavier") return Initialiser::xavier;
  if (init == "zero") return Initialiser::zero;
  return Initialiser::uniform_fan_in;
}

}  // namespace

std::vector<Setting> weight_settings() {
  return {{.name = "bias", .initial = true, .doc = "whether a bias is added"},
          {.name = "init",
           .initial = std::string("uniform"),
           .doc = "first weights: uniform in ±1/√fan_in, normal with variance 2/fan_in (he) or "
                  "2/(fan_in + fan_out) (xavier), or zero",
           .choices = {"uniform", "he", "xavier", "zero"}},
          {.name = "trainable", .initial = true, .doc = "false: the layer keeps its weights"}};
}

ValueId add_weight(Net& net, const Settings& settings, Shape shape, std::int64_t fan_in,
                   std::int64_t fan_out) {
  return net.parameter("weight", std::move(shape),
                       {.kind = kind_of(settings), .fan_in = fan_in, .fan_out = fan_out},
                       {.trainable = settings.flag("trainable")});
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
