// SPDX-License-Identifier: Apache-2.0
// Weight normalisation (B20), and erratum 18: the length of v changes its gradient, not the loss.
#include "tutti/passes/autodiff.h"

#include "nn/apply_layer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

using contract::Array;
using contract::Values;

struct Result {
  Array y, dv, dmagnitude, v;
};

// y and the gradients of Σ dy · y, with v multiplied by `factor`.
Result run(const char* layer, Settings settings, const Shape& shape, double factor) {
  settings.set("weight_norm", true);
  test::Applied a = test::applied(layer, settings, shape);
  const ValueId v = a.parameter("weight_v"), magnitude = a.parameter("weight_magnitude");
  Values values = test::first_parameters(a.net);
  for (std::int64_t i = 0; i < values.at(v).count(); ++i)
    values.at(v).set(i, factor * values.at(v).get(i));
  values.insert_or_assign(a.net.input, contract::random_array({DType::f64, shape}, 4));
  const ValueId dy = a.net.graph.add_value("", a.net.graph.type(a.y));
  values.insert_or_assign(dy, contract::random_array(a.net.graph.type(a.y), 5));
  const std::vector<ValueId> found = gradients(a.net.graph, {a.y}, {dy}, {v, magnitude});
  const Values all = contract::evaluate(a.net.graph, values);
  return {all.at(a.y), all.at(found[0]), all.at(found[1]), values.at(v)};
}

class WeightNorm : public testing::TestWithParam<const char*> {
 protected:
  const bool linear = std::string(GetParam()) == "linear";
  const Settings settings =
      linear ? Settings{{"units", 4}} : Settings{{"channels", 4}, {"kernel", 3}};
  const Shape shape = linear ? Shape{3, 5} : Shape{2, 3, 5, 5};
  Result with(double factor) const { return run(GetParam(), settings, shape, factor); }
};

TEST_P(WeightNorm, B20TheGradientIsOrthogonalToV) {
  const Result r = with(1);
  const std::int64_t count = r.v.count() / 4;
  for (std::int64_t o = 0; o < 4; ++o) {
    double dot = 0, size = 0;
    for (std::int64_t i = o * count; i < (o + 1) * count; ++i) {
      dot += r.v.get(i) * r.dv.get(i);
      size += std::abs(r.dv.get(i));
    }
    EXPECT_NEAR(dot, 0, 1e-12);
    EXPECT_GT(size, 1e-3);
  }
}

TEST_P(WeightNorm, B20TenTimesVLeavesTheOutputAndDividesTheGradientByTen) {
  const Result one = with(1), ten = with(10);
  EXPECT_LT(contract::difference(ten.y, one.y), 1e-12);
  EXPECT_LT(contract::difference(ten.dmagnitude, one.dmagnitude), 1e-12);
  Array scaled = ten.dv;
  for (std::int64_t i = 0; i < scaled.count(); ++i) scaled.set(i, 10 * scaled.get(i));
  EXPECT_LT(contract::difference(scaled, one.dv), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Layers, WeightNorm, testing::Values("linear", "convolution"));

// B20: w = (g / |v|) v for each output.
TEST(WeightNormLayer, IsTheLayerWithTheScaledDirection) {
  const test::Applied a =
      test::applied("linear", {{"units", 2}, {"weight_norm", true}, {"bias", false}}, {1, 2});
  const auto array = [](const Shape& shape, std::initializer_list<double> numbers) {
    Array result({DType::f64, shape});
    std::int64_t i = 0;
    for (const double number : numbers) result.set(i++, number);
    return result;
  };
  const Array y =
      a.output(array({1, 2}, {10, 1}), {{a.parameter("weight_v"), array({2, 2}, {3, 4, 0, 7})},
                                        {a.parameter("weight_magnitude"), array({2}, {5, 2})}});
  EXPECT_NEAR(y.get(0), 3 * 10 + 4 * 1, 1e-13);
  EXPECT_NEAR(y.get(1), 2, 1e-14);
}

// The first magnitudes are the norms that the first directions are expected to have.
TEST(WeightNormLayer, BeginsNearTheWeightsWithout) {
  for (const char* init : {"uniform", "he", "xavier"}) {
    const test::Applied a =
        test::applied("linear", {{"units", 50}, {"init", init}, {"weight_norm", true}}, {1, 400});
    const Values values = test::first_parameters(a.net);
    const Array& v = values.at(a.parameter("weight_v"));
    double square = 0;
    for (std::int64_t i = 0; i < v.count(); ++i) square += v.get(i) * v.get(i);
    EXPECT_NEAR(values.at(a.parameter("weight_magnitude")).get(0), std::sqrt(square / 50), 0.02)
        << init;
  }
}

TEST(WeightNormLayer, ZeroWeightsAreRefused) {
  EXPECT_EQ(
      test::layer_error("linear", {{"units", 2}, {"init", "zero"}, {"weight_norm", true}}, {1, 3}),
      "here: 'weight_norm' divides by the norm of the weights, but 'init' is zero");
}

}  // namespace
}  // namespace tutti
