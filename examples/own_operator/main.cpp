// SPDX-License-Identifier: Apache-2.0
// An operator of one's own, without touching the library: swish, y = x · sigmoid(x). It is a
// struct; a layer that applies it is appended to the list of layers, and a recipe trains with it.
// Without a kernel of its own it runs by its reference. Its gradient is checked against finite
// differences.
#include "tutti/nn/layer.h"
#include "tutti/ops/operators.h"
#include "tutti/ops/shared/pointwise.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

using namespace tutti;

namespace {

extern const Op swish_grad;

const Op swish{
    .name = "swish",
    .doc = "y = x · sigmoid(x)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return ops::infer_pointwise("swish", in); },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(swish_grad, {dy[0], node.inputs[0]});
        },
    .cost = ops::cost_pointwise,
    .sharding = ops::sharding_pointwise,
    .reference =
        [](const Call& call) {
          ops::map_elements(call, [](auto x) { return x / (1 + std::exp(-x)); });
        },
    .cases = [] { return ops::cases_pointwise(1); },
};

const Op swish_grad{
    .name = "swish_grad",
    .doc = "dx = dy · (s + x · s · (1 − s)), s = sigmoid(x)",
    .infer = [](const Settings&,
                const std::vector<Type>& in) { return ops::infer_pointwise("swish_grad", in); },
    .undifferentiable = "the second derivative of swish is not written",
    .cost = ops::cost_pointwise,
    .sharding = ops::sharding_pointwise,
    .reference =
        [](const Call& call) {
          ops::map_elements(call, [](auto dy, auto x) {
            const auto s = 1 / (1 + std::exp(-x));
            return dy * (s + x * s * (1 - s));
          });
        },
    .cases = [] { return ops::cases_pointwise(2); },
};

// Runs the plain reference of a one-output operator on vectors of doubles.
std::vector<double> run(const Op& op, std::vector<std::vector<double>> inputs) {
  const Shape shape{static_cast<std::int64_t>(inputs[0].size())};
  std::vector<double> y(inputs[0].size());
  Call call{.settings = {}, .in = {}, .out = {{DType::f64, shape, y.data()}}};
  for (std::vector<double>& x : inputs) call.in.push_back({DType::f64, shape, x.data()});
  op.reference(call);
  return y;
}

double largest_gradient_error(const std::vector<double>& x) {
  const double h = 1e-6;
  double largest = 0;
  const std::vector<double> dx = run(swish_grad, {std::vector<double>(x.size(), 1.0), x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double slope = (run(swish, {{x[i] + h}})[0] - run(swish, {{x[i] - h}})[0]) / (2 * h);
    largest = std::max(largest, std::abs(slope - dx[i]));
  }
  return largest;
}

const Layer swish_layer{
    .name = "swish",
    .doc = "y = x · sigmoid(x)",
    .apply = [](Net& net, ValueId x, const Settings&) { return net.graph.add1(swish, {x}); },
};

constexpr const char* recipe = R"(
[model]
name = "layers"

[[model.layers]]
type = "flatten"

[[model.layers]]
type = "linear"
units = 64

[[model.layers]]
type = "swish"

[[model.layers]]
type = "linear"
units = 10

[data]
name = "digits"

[train]
epochs = 5
checkpoint = "none"
record = "none"

[optimizer]
rule = "adam"
rate = 0.01
)";

}  // namespace

int main() {
  const double error = largest_gradient_error({-4, -1.5, -0.1, 0, 0.7, 2, 5});
  fmt::print("swish: gradient within {:.1e} of finite differences\n", error);
  if (error > 1e-8) return 1;

  Lists lists = default_lists();
  lists.layers.add(swish_layer);
  lists.operators.add({"swish", &swish});
  lists.operators.add({"swish_grad", &swish_grad});
  TrainOptions options;
  options.print = [](const std::string& line) { fmt::print("{}\n", line); };
  return train(make_job(parse_recipe(recipe, "own_operator.toml"), lists), options).test_accuracy >
                 0.9
             ? 0
             : 1;
}
