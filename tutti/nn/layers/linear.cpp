// SPDX-License-Identifier: Apache-2.0
// Fully connected: y[n,o] = Σ_i x[n,i] w[o,i] + b[o], for every sample or for every token.
#include "tutti/nn/layers/weight.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/reshape.h"

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
  const Shape shape = net.graph.shape(x);
  const bool per_token =
      shape.size() == 3 && token_capacity(net.fields) > 0 && shape[1] == token_capacity(net.fields);
  if (shape.size() != 2 && !per_token)
    throw Error("the input is {}, expected batch × features: put a flatten layer before",
                to_string(shape));
  const std::int64_t features = shape.back(), units = settings.integer("units");
  if (per_token) x = net.graph.add1(ops::reshape, {x}, {{"shape", Shape{-1, features}}});
  const ValueId weight = add_weight(net, settings, {units, features}, features, units);
  ValueId y = net.graph.add1(ops::matmul, {x, weight}, {{"transpose_b", true}});
  y = add_bias(net, settings, y, features);
  if (!per_token) return y;
  return net.graph.add1(ops::reshape, {y}, {{"shape", Shape{-1, shape[1], units}}});
}

}  // namespace

const Layer linear{.name = "linear",
                   .doc = "every output is a weighted sum of all inputs",
                   .settings = settings(),
                   .apply = apply};

}  // namespace tutti::nn
