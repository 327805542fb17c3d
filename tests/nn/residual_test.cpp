// SPDX-License-Identifier: Apache-2.0
// A07: a residual block, whose input is used twice; both contributions to its gradient must add.
#include "tutti/graph/verify.h"
#include "tutti/nn/layer.h"
#include "tutti/ops/add.h"
#include "tutti/ops/constant.h"
#include "tutti/passes/autodiff.h"

#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

ValueId build_residual(Net& net, ValueId x, const Settings&) {
  const Settings same{{"channels", 2}, {"kernel", 3}, {"padding", 1}};
  ValueId y = net.apply(nn::relu, net.apply(nn::convolution, x, same));
  y = net.apply(nn::convolution, y, same);
  y = net.layer("shortcut", "add", [&] { return net.graph.add1(ops::add, {y, x}); });
  y = net.apply(nn::global_average_pool, net.apply(nn::relu, y));
  return net.apply(nn::linear, y, {{"units", 3}});
}

TEST(Residual, A07GradientByEveryParameterAndTheInput) {
  const Model residual{.name = "residual", .doc = "one block", .build = build_residual};
  Net net = build_net(
      residual, {},
      {.fields = input_and_labels({2, 4, 4}), .classes = 3, .batch = 2, .dtype = DType::f64});
  const Graph forward = net.graph;
  std::vector<ValueId> wrt = net.parameters;
  wrt.push_back(net.input);
  const ValueId seed = net.graph.add1(ops::constant, {}, {{"shape", Shape{}}, {"dtype", "f64"}});
  const std::vector<ValueId> found = gradients(net.graph, {net.loss}, {seed}, wrt);
  verify(net.graph, "gradients");

  contract::Values values = test::first_values(net);
  const contract::Values all = contract::evaluate(net.graph, values);
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    contract::Array& w = values.at(wrt[k]);
    ASSERT_NE(found[k], no_value);
    for (std::int64_t i = 0; i < w.count(); ++i) {
      const double middle = w.get(i), h = 1e-6;
      const auto loss_at = [&](double value) {
        w.set(i, value);
        return contract::evaluate(forward, values).at(net.loss).get(0);
      };
      const double slope = (loss_at(middle + h) - loss_at(middle - h)) / (2 * h);
      w.set(i, middle);
      // Central differences: O(h²) and rounding of 1e-16/h.
      EXPECT_NEAR(all.at(found[k]).get(i), slope, 1e-9) << net.graph.value(wrt[k]).name << i;
    }
  }
}

}  // namespace
}  // namespace tutti
