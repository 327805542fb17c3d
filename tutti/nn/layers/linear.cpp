// SPDX-License-Identifier: Apache-2.0
// Fully connected: y[n,o] = Σ_i x[n,i] w[o,i] + b[o].
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/matmul.h"

namespace tutti::nn {
namespace {

std::vector<Setting> settings() {
  std::vector<Setting> all = weight_settings();
  all.insert(all.begin(), {.name = "units",
                           .initial = std::int64_t{1},
                           .doc = "outputs of the layer",
                           .min = 1,
                           .required = true});
  return all;
}

ValueId apply(Net& net, ValueId x, const Settings& settings) {
  const Shape& shape = net.graph.shape(x);
  if (shape.size() != 2)
    throw Error("the input is {}, expected batch × features: put a flatten layer before",
                to_string(shape));
  const std::int64_t features = shape[1], units = settings.integer("units");
  const ValueId weight = add_weight(net, settings, {units, features}, features, units);
  const ValueId y = net.graph.add1(ops::matmul, {x, weight}, {{"transpose_b", true}});
  return add_bias(net, settings, y, features);
}

}  // namespace

const Layer linear{.name = "linear",
                   .doc = "every output is a weighted sum of all inputs",
                   .settings = settings(),
                   .apply = apply};

}  // namespace tutti::nn
