// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/convolution_methods.h"

#include "tutti/ops/convolution.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

ops::Geometry geometry(std::int64_t n, std::int64_t channels, std::int64_t extent, std::int64_t k,
                       std::int64_t padding = 0, std::int64_t stride = 1) {
  const Settings settings = resolve(ops::convolution.settings,
                                    {{"padding", std::vector<std::int64_t>{padding}},
                                     {"stride", std::vector<std::int64_t>{stride}}},
                                    "[convolution]");
  return ops::forward_geometry(settings, {{DType::f32, {n, channels, extent, extent}},
                                          {DType::f32, {channels, channels, k, k}}});
}

TEST(ConvolutionMethods, K03Direct) {
  const MethodCost direct = direct_cost(geometry(1, 64, 56, 3));
  EXPECT_EQ(direct.work, 107'495'424);
  EXPECT_EQ(direct.depth, 10);
}

TEST(ConvolutionMethods, K03FftDepth) { EXPECT_EQ(fft_cost(geometry(1, 64, 56, 3)).depth, 30); }

// B10: N = 32, C = 64, 64×64, c = 5.
TEST(ConvolutionMethods, B10RatioOfDirectToFft) {
  const double expected[][2] = {{3, 1.78}, {5, 4.63}, {7, 8.47}, {11, 18.1}};
  for (const auto& [k, ratio] : expected) {
    const ops::Geometry g = geometry(32, 64, 64, static_cast<std::int64_t>(k));
    EXPECT_NEAR(direct_cost(g).work / fft_cost(g).work, ratio, 0.005 * ratio) << "K = " << k;
  }
}

// Erratum 6. The tiles cover the 56×56 positions of the output, hence the padding.
TEST(ConvolutionMethods, K03Winograd) {
  const WinogradCost winograd = winograd_cost(geometry(1, 64, 56, 3, 1), 2);
  EXPECT_EQ(winograd.products, 51'380'224);
  EXPECT_EQ(winograd.work, 60'555'264);  // the row's 60.6M
  EXPECT_EQ(winograd.depth, 2 * 2 + 4 * 2 + 6);
}

// Multiply–adds of the product of a p×q and a q×s matrix, by doing it.
std::int64_t product_count(std::int64_t p, std::int64_t q, std::int64_t s) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = 0; j < s; ++j)
      for (std::int64_t k = 0; k < q; ++k) ++count;
  return count;
}

// G w Gᵀ per kernel, Bᵀ x B per tile and channel, Aᵀ y A per tile and output channel.
TEST(ConvolutionMethods, K03WinogradCountedTileByTile) {
  const ops::Geometry g = geometry(2, 3, 11, 3, 1);
  for (const int m : {2, 4}) {
    const std::int64_t r = 3, a = m + r - 1;
    std::int64_t work = 0, products = 0;
    for (std::int64_t kernel = 0; kernel < g.c * g.o; ++kernel)
      work += product_count(a, r, r) + product_count(a, r, a);
    for (std::int64_t n = 0; n < g.n; ++n)
      for (std::int64_t row = 0; row < g.pixels[0]; row += m)
        for (std::int64_t column = 0; column < g.pixels[1]; column += m) {
          work += g.c * 2 * product_count(a, a, a);
          work += g.o * (product_count(m, a, a) + product_count(m, a, m));
          products += a * a * g.c * g.o;
        }
    EXPECT_EQ(winograd_cost(g, m).products, static_cast<double>(products)) << "m = " << m;
    EXPECT_EQ(winograd_cost(g, m).work, static_cast<double>(work + products)) << "m = " << m;
  }
}

// B13: multiplications per tile and channel against m²r² of the direct method.
TEST(ConvolutionMethods, B13ProductsPerTile) {
  const double expected[][2] = {{2, 16}, {4, 36}, {6, 64}};
  for (const auto& [m, products] : expected) {
    const auto extent = static_cast<std::int64_t>(m);
    EXPECT_EQ(winograd_cost(geometry(1, 1, extent, 3, 1), static_cast<int>(m)).products, products);
  }
}

TEST(ConvolutionMethods, WinogradOnlyWhereItApplies) {
  EXPECT_TRUE(is_winograd(geometry(1, 8, 8, 3)));
  EXPECT_FALSE(is_winograd(geometry(1, 8, 8, 1)));
  EXPECT_FALSE(is_winograd(geometry(1, 8, 8, 3, 1, 2)));
}

TEST(ConvolutionMethods, RowsOfAGraph) {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {2, 8, 16, 16}});
  const ValueId w = graph.add_value("w", {DType::f32, {8, 8, 3, 3}});
  graph.scope = "conv1";
  graph.add1(ops::convolution, {x, w}, {{"padding", std::vector<std::int64_t>{1}}});
  graph.scope = "conv2";
  graph.add1(ops::convolution, {x, w}, {{"stride", std::vector<std::int64_t>{2}}});
  const auto rows = convolution_methods(graph);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].name, "conv1");
  ASSERT_TRUE(rows[0].winograd.has_value());
  EXPECT_EQ(rows[0].winograd_m, 4);
  EXPECT_LT(rows[0].winograd->work, rows[0].direct.work);
  EXPECT_FALSE(rows[1].winograd.has_value());
}

}  // namespace
}  // namespace tutti
