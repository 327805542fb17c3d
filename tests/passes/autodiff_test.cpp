// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/autodiff.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/ops/accuracy.h"
#include "tutti/ops/add.h"
#include "tutti/ops/multiply.h"
#include "tutti/ops/relu.h"

#include "expect_error.h"
#include "nn/run_net.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using contract::Values;

TEST(Autodiff_A07, AValueUsedTwiceGetsTheSum) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {3}});
  const ValueId y = graph.add1(ops::multiply, {x, x});
  const ValueId seed = graph.add_value("dy", {DType::f64, {3}});
  const ValueId dx = gradients(graph, {y}, {seed}, {x})[0];
  const Array input = contract::random_array({DType::f64, {3}}, 1);
  Array ones({DType::f64, {3}});
  for (int i = 0; i < 3; ++i) ones.set(i, 1);
  const Values values = contract::evaluate(graph, {{x, input}, {seed, ones}});
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(values.at(dx).get(i), 2 * input.get(i));
}

TEST(Autodiff, NothingFlowsToWhatDoesNotMatter) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f64, {3}}),
                z = graph.add_value("z", {DType::f64, {3}});
  const ValueId y = graph.add1(ops::relu, {x});
  const std::size_t before = graph.nodes.size();
  const std::vector<ValueId> grads = gradients(graph, {y}, {x}, {z});
  EXPECT_EQ(grads[0], no_value);
  EXPECT_EQ(graph.nodes.size(), before);
}

TEST(Autodiff, AnOperatorWithoutGradientSaysWhy) {
  Graph graph;
  const ValueId z = graph.add_value("z", {DType::f64, {2, 3}});
  const ValueId labels = graph.add_value("labels", {DType::i32, {2}});
  const ValueId weights = graph.add_value("weights", {DType::f64, {2}});
  const ValueId hits = graph.add1(ops::accuracy, {z, labels, weights});
  const ValueId seed = graph.add_value("seed", {DType::f64, {}});
  expect_error([&] { gradients(graph, {hits}, {seed}, {z}); }, {"[accuracy]", "no gradient"});
}

TEST(Autodiff, GradientsLieInTheFlatVector) {
  const List<Model> all = models();
  Net net = build_net(all.find("lenet5"), {},
                      {.fields = input_and_labels({1, 32, 32}), .classes = 10, .batch = 2});
  differentiate(net.graph, net.loss, net.table, net.parameters);
  verify(net.graph, "autodiff");
  for (const Range& range : net.table.ranges) {
    int found = 0;
    for (const Value& value : net.graph.values)
      found += value.place == Place{Base::gradients, range.offset * bytes_of(net.dtype)};
    EXPECT_EQ(found, range.trainable ? 1 : 0) << range.name;
  }
}

// Hv as the gradient of the gradient graph, against differences of the gradient along v.
void check_hessian_vector_product(const char* model, const Settings& settings,
                                  const Shape& sample) {
  const List<Model> all = models();
  Net net = build_net(
      all.find(model), settings,
      {.fields = input_and_labels(sample), .classes = 3, .batch = 2, .dtype = DType::f64});
  std::vector<ValueId> wrt;
  for (std::size_t r = 0; r < net.parameters.size(); ++r)
    if (net.table.ranges[r].trainable) wrt.push_back(net.parameters[r]);
  const ValueId one = net.graph.add_value("one", {DType::f64, {}});
  const std::vector<ValueId> g = gradients(net.graph, {net.loss}, {one}, wrt);
  const Graph first = net.graph;

  Values values = test::first_values(net);
  Array unit({DType::f64, {}});
  unit.set(0, 1);
  values.insert_or_assign(one, unit);
  std::vector<ValueId> direction;
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    direction.push_back(net.graph.add_value("v", net.graph.type(wrt[k])));
    values.insert_or_assign(direction.back(),
                            contract::random_array(net.graph.type(wrt[k]), 50 + k));
  }
  const std::vector<ValueId> product = gradients(net.graph, g, direction, wrt);
  verify(net.graph, "second differentiation");
  const Values exact = contract::evaluate(net.graph, values);

  const auto gradient_at = [&](double distance) {
    Values moved = values;
    for (std::size_t k = 0; k < wrt.size(); ++k)
      for (std::int64_t i = 0; i < values.at(wrt[k]).count(); ++i)
        moved.at(wrt[k]).set(i,
                             values.at(wrt[k]).get(i) + distance * values.at(direction[k]).get(i));
    return contract::evaluate(first, moved);
  };
  constexpr double step = 1e-6;
  const Values ahead = gradient_at(step), behind = gradient_at(-step);
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    ASSERT_NE(product[k], no_value);
    double scale = 0, worst = 0;
    for (std::int64_t i = 0; i < exact.at(product[k]).count(); ++i) {
      const double numeric = (ahead.at(g[k]).get(i) - behind.at(g[k]).get(i)) / (2 * step);
      scale = std::max(scale, std::abs(numeric));
      worst = std::max(worst, std::abs(numeric - exact.at(product[k]).get(i)));
    }
    // Differences of double gradients at this step are good to about 1e-9 absolute.
    EXPECT_LE(worst, 1e-5 * scale + 1e-8) << model << " parameter " << k;
    EXPECT_GT(scale, 0) << model << " parameter " << k;
  }
}

TEST(Autodiff, HessianVectorProductOfMlp) {
  check_hessian_vector_product("mlp", {{"hidden", Shape{6, 5}}}, {1, 4, 4});
}

TEST(Autodiff, HessianVectorProductOfLeNet) {
  check_hessian_vector_product("lenet", {}, {1, 16, 16});
}

}  // namespace
}  // namespace tutti
