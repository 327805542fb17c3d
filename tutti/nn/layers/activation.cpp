// SPDX-License-Identifier: Apache-2.0
// Point-wise non-linear functions, and softmax.
#include "tutti/nn/layer.h"
#include "tutti/ops/gelu.h"
#include "tutti/ops/leaky_relu.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/sigmoid.h"
#include "tutti/ops/softmax.h"
#include "tutti/ops/tanh.h"

namespace tutti::nn {
namespace {

template <const Op& op>
ValueId apply(Net& net, ValueId x, const Settings&) {
  return net.graph.add1(op, {x});
}

}  // namespace

const Layer relu{.name = "relu", .doc = "y = max(x, 0)", .apply = apply<ops::relu>};
const Layer sigmoid{
    .name = "sigmoid", .doc = "y = 1 / (1 + exp(−x))", .apply = apply<ops::sigmoid>};
const Layer tanh{.name = "tanh", .doc = "y = tanh(x)", .apply = apply<ops::tanh>};
const Layer gelu{
    .name = "gelu", .doc = "y = x · Φ(x), Φ of the normal distribution", .apply = apply<ops::gelu>};

const Layer leaky_relu{
    .name = "leaky_relu",
    .doc = "y = x where x > 0, else slope · x",
    .settings = {{.name = "slope", .initial = 0.01, .doc = "factor of negative values"}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add1(ops::leaky_relu, {x}, {{"slope", settings.real("slope")}});
        },
};

const Layer softmax{
    .name = "softmax",
    .doc = "exp(x) divided by its sum along an axis; the loss of a classifier applies its own",
    .settings = {{.name = "axis", .initial = std::int64_t{1}, .doc = "dimension that sums to one"}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          return net.graph.add1(ops::softmax, {x}, {{"axis", settings.integer("axis")}});
        },
};

}  // namespace tutti::nn
