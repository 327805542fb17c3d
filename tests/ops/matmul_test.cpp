// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/matmul.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using contract::Array;

Settings resolved(const Settings& given) { return resolve(matmul.settings, given, "[matmul]"); }

Cost cost_of(const Graph& graph, const Node& node) {
  return node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
}

// B02: every size against a triple loop, with products that are exact in any order.
TEST(Matmul, B02EqualsTheTripleLoop) {
  for (const std::int64_t size : {1, 7, 33, 127}) {
    Array a({DType::f64, {size, size}}), b({DType::f64, {size, size}});
    for (std::int64_t i = 0; i < size * size; ++i) {
      a.set(i, static_cast<double>(draw(1, static_cast<std::uint64_t>(i)) % 7) - 3);
      b.set(i, static_cast<double>(draw(2, static_cast<std::uint64_t>(i)) % 7) - 3);
    }
    const Array y = contract::run_reference(matmul, resolved({}), {a, b})[0];
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < size; ++k) sum += a.get(i * size + k) * b.get(k * size + j);
        ASSERT_EQ(y.get(i * size + j), sum) << size << ": " << i << ", " << j;
      }
  }
}

// B01, K02: a linear layer and its two gradients each make N·Cin·Cout multiply–adds and report the
// depth of their own reduction.
TEST(Matmul, B01LinearLayerReportsWorkAndDepth) {
  constexpr std::int64_t n = 33, inputs = 100, outputs = 17;
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {n, inputs}});
  const ValueId w = graph.add_value("w", {DType::f32, {outputs, inputs}});
  graph.add1(matmul, {x, w}, {{"transpose_b", true}});
  const Node forward = graph.nodes[0];
  const ValueId dy = graph.add_value("dy", graph.type(forward.outputs[0]));
  const auto gradients = matmul.gradient(graph, forward, {dy});
  EXPECT_EQ(graph.shape(gradients[0]), graph.shape(x));
  EXPECT_EQ(graph.shape(gradients[1]), graph.shape(w));
  ASSERT_EQ(graph.nodes.size(), 3u);
  const double depths[] = {7, 6, 5};  // log2 of Cin = 100, N = 33, Cout = 17, rounded up
  for (std::size_t i = 0; i < 3; ++i) {
    const Cost cost = cost_of(graph, graph.nodes[i]);
    EXPECT_EQ(cost.work, n * inputs * outputs);
    EXPECT_EQ(cost.multiply_adds, n * inputs * outputs);
    EXPECT_EQ(cost.depth, depths[i]);
    EXPECT_EQ(cost.bytes_read + cost.bytes_written,
              4 * (n * inputs + outputs * inputs + n * outputs));
  }
}

TEST(Matmul, EpilogueAddsBiasAndResidualBeforeTheActivation) {
  Array a({DType::f64, {1, 1}}), b({DType::f64, {1, 2}}), bias({DType::f64, {2}});
  Array residual({DType::f64, {1, 2}});
  a.set(0, 2);
  b.set(0, 3), b.set(1, -3);
  bias.set(0, 0.5), bias.set(1, -0.5);
  residual.set(0, 10), residual.set(1, 1);
  const Array y = contract::run_reference(matmul, resolved({{"activation", "relu"}}),
                                          {a, b, bias, residual})[0];
  EXPECT_EQ(y.get(0), 16.5);
  EXPECT_EQ(y.get(1), 0);
}

// Splitting the reduced index would activate partial sums.
TEST(Matmul, EpilogueForbidsSplittingTheReducedIndex) {
  const Type a{DType::f32, {3, 5}}, b{DType::f32, {5, 7}}, bias{DType::f32, {7}};
  EXPECT_EQ(matmul.sharding(resolved({}), {a, b}), "a[m,k] b[k,n] -> y[m,n]");
  EXPECT_EQ(matmul.sharding(resolved({}), {a, b, bias}), "a[m,*] b[*,n] bias[n] -> y[m,n]");
}

void expect_error(const Settings& settings, const std::vector<Type>& in, const char* text) {
  try {
    matmul.infer(resolved(settings), in);
    FAIL() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Matmul, SaysWhatDoesNotFit) {
  const Type a{DType::f32, {3, 5}}, b{DType::f32, {5, 7}};
  expect_error({}, {a, {DType::f64, {5, 7}}}, "[matmul] factors are f32 and f64");
  expect_error({}, {a, {DType::f32, {2, 5, 7}}}, "equal leading extents");
  expect_error({{"transpose_b", true}}, {a, b}, "the inner extents 5 and 7 differ");
  expect_error({}, {a, b, {DType::f32, {3}}}, "[matmul] bias is f32 3, expected f32 7");
  expect_error({}, {a, b, Type{}, a}, "[matmul] residual is f32 3×5");
  expect_error({}, {a, b, Type{}, Type{}, a}, "[matmul] has 5 inputs");
}

}  // namespace
}  // namespace tutti::ops
