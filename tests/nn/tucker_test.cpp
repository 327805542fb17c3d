// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/tucker.h"

#include "tutti/core/rng.h"

#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;

std::vector<double> random_kernel(const Shape& shape) {
  std::vector<double> w;
  for (std::int64_t i = 0; i < elements(shape); ++i)
    w.push_back(normal(5, static_cast<std::uint64_t>(i)));
  return w;
}

// Σ last[o,s] core[s,r,k] first[r,c].
std::vector<double> product(const TuckerFactors& f, const Shape& shape) {
  const std::int64_t outputs = shape[0], inputs = shape[1], k = elements(shape, 2, shape.size());
  const std::int64_t s_rank = f.core_shape[0], r_rank = f.core_shape[1];
  const auto at = [](const std::vector<double>& v, std::int64_t i) {
    return v[static_cast<std::size_t>(i)];
  };
  std::vector<double> w(static_cast<std::size_t>(outputs * inputs * k));
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t c = 0; c < inputs; ++c)
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t s = 0; s < s_rank; ++s)
          for (std::int64_t r = 0; r < r_rank; ++r)
            w[static_cast<std::size_t>((o * inputs + c) * k + i)] +=
                at(f.last, o * s_rank + s) * at(f.core, (s * r_rank + r) * k + i) *
                at(f.first, r * inputs + c);
  return w;
}

double squared_error(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(Tucker, B32FullRanksReproduceTheKernel) {
  for (const Shape& shape : {Shape{6, 4, 3, 3}, Shape{3, 8, 5}, Shape{2, 3, 2, 3, 2}}) {
    const std::vector<double> w = random_kernel(shape);
    const TuckerFactors f = tucker(shape, w, shape[1], shape[0]);
    EXPECT_LT(squared_error(w, product(f, shape)), 1e-20);
    EXPECT_LT(f.error_bound, 1e-12);
  }
}

TEST(Tucker, B32TheErrorIsAtMostWhatWasDiscarded) {
  const Shape shape{8, 6, 3, 3};
  const std::vector<double> w = random_kernel(shape);
  for (const auto& [in, out] : {std::pair{3, 4}, {6, 2}, {1, 1}, {5, 8}}) {
    const TuckerFactors f = tucker(shape, w, in, out);
    const double error = squared_error(w, product(f, shape));
    EXPECT_LE(error, f.error_bound * (1 + 1e-12));
    EXPECT_GT(error, 0);
    // One mode alone is the best approximation of its rank, so nothing may be far below.
    EXPECT_GE(error, f.error_bound / 2 * (1 - 1e-12));
  }
}

// The layer computes the convolution with the product of its factors.
TEST(Tucker, B32TheLayerIsTheConvolutionWithTheProduct) {
  const Settings window{
      {"channels", 6}, {"kernel", 3}, {"stride", 2}, {"padding", 1}, {"bias", false}};
  Settings with_ranks = window;
  with_ranks.set("ranks", Shape{2, 3});
  const test::Applied dense = test::applied("convolution", window, {2, 4, 7, 7});
  const test::Applied layer = test::applied("tucker_convolution", with_ranks, {2, 4, 7, 7});
  const std::vector<double> w = random_kernel({6, 4, 3, 3});
  const TuckerFactors f = tucker({6, 4, 3, 3}, w, 2, 3);
  const auto array = [](const Shape& shape, const std::vector<double>& values) {
    Array result({DType::f64, shape});
    for (std::size_t i = 0; i < values.size(); ++i)
      result.set(static_cast<std::int64_t>(i), values[i]);
    return result;
  };
  const Array x = contract::random_array({DType::f64, {2, 4, 7, 7}}, 2);
  const Array expected =
      dense.output(x, {{dense.parameter("weight"), array({6, 4, 3, 3}, product(f, {6, 4, 3, 3}))}});
  const Array found = layer.output(x, {{layer.parameter("first"), array(f.first_shape, f.first)},
                                       {layer.parameter("core"), array(f.core_shape, f.core)},
                                       {layer.parameter("last"), array(f.last_shape, f.last)}});
  EXPECT_LT(contract::difference(found, expected), 1e-13);
}

TEST(Tucker, Refusals) {
  const auto error = [](Shape shape, std::int64_t in, std::int64_t out) {
    return test::error_of([&] { tucker(shape, random_kernel(shape), in, out); });
  };
  EXPECT_EQ(error({4, 3}, 1, 1),
            "a tensor 4×3 is no kernel: expected [outputs, inputs, 1 to 3 extents]");
  EXPECT_EQ(error({4, 3, 3}, 4, 1),
            "ranks 4 and 1 of a kernel 4×3×3: expected 1 to 3 inputs and 1 to 4 outputs");
  EXPECT_EQ(
      test::layer_error("tucker_convolution",
                        {{"channels", 4}, {"kernel", 3}, {"ranks", Shape{5, 2}}}, {2, 3, 8, 8}),
      "here: 'ranks' is [5, 2], expected two numbers, at most 3 input and 4 output channels");
}

}  // namespace
}  // namespace tutti
