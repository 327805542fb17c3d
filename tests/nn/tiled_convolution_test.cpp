// SPDX-License-Identifier: Apache-2.0
#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using test::applied;
using test::Applied;

const Settings window{
    {"channels", 5}, {"kernel", 3}, {"stride", 2}, {"padding", 1}, {"bias", false}};
const Shape image{2, 3, 7, 9};  // outputs are 4 × 5

Applied tiled(const Shape& period) {
  Settings settings = window;
  settings.set("period", period);
  return applied("tiled_convolution", settings, image);
}

// The same kernel for every tile.
Array tied(const Array& w, const Shape& shape) {
  Array all({DType::f64, shape});
  for (std::int64_t i = 0; i < all.count(); ++i) all.set(i, w.get(i % w.count()));
  return all;
}

TEST(TiledConvolution, B29TiedWeightsMakeAConvolution) {
  const Applied dense = applied("convolution", window, image);
  const Array w = contract::random_array({DType::f64, {5, 3, 3, 3}}, 1);
  const Array x = contract::random_array({DType::f64, image}, 2);
  const Array expected = dense.output(x, {{dense.parameter("weight"), w}});
  for (const Applied& layer :
       {tiled({1}), tiled({2}), tiled({3, 2}), applied("locally_connected", window, image)}) {
    const ValueId weight = layer.parameter("weight");
    const Array y = layer.output(x, {{weight, tied(w, layer.net.graph.shape(weight))}});
    EXPECT_EQ(contract::difference(y, expected), 0);
  }
}

TEST(TiledConvolution, B29ThePeriodOfTheImageIsLocallyConnected) {
  const Applied whole = tiled({4, 5}), local = applied("locally_connected", window, image);
  EXPECT_EQ(local.net.table.parameters(true), 4 * 5 * 5 * 3 * 3 * 3);  // H' W' Cout Cin K²
  EXPECT_EQ(whole.net.table.parameters(true), local.net.table.parameters(true));
  EXPECT_EQ(tiled({1}).net.table.parameters(true), 5 * 3 * 3 * 3);
  const Array w = contract::random_array(local.net.graph.type(local.parameter("weight")), 1);
  const Array x = contract::random_array({DType::f64, image}, 2);
  EXPECT_EQ(contract::difference(whole.output(x, {{whole.parameter("weight"), w}}),
                                 local.output(x, {{local.parameter("weight"), w}})),
            0);
}

// Weights at positions one period apart are the same, others are not.
TEST(TiledConvolution, B29WeightsRepeatAfterThePeriod) {
  const Applied layer =
      applied("tiled_convolution", {{"channels", 1}, {"kernel", 1}, {"period", 2}, {"bias", false}},
              {1, 1, 2, 4});
  Array w({DType::f64, {4, 1, 1, 1, 1}}), x({DType::f64, {1, 1, 2, 4}});
  for (std::int64_t i = 0; i < 4; ++i) w.set(i, static_cast<double>(i + 1));
  for (std::int64_t i = 0; i < 8; ++i) x.set(i, 1);
  const Array y = layer.output(x, {{layer.parameter("weight"), w}});
  const double expected[] = {1, 2, 1, 2, 3, 4, 3, 4};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(y.get(i), expected[i]);
}

TEST(TiledConvolution, Refusals) {
  EXPECT_EQ(test::layer_error("locally_connected", {{"channels", 4}, {"kernel", 1}, {"groups", 2}},
                              {2, 3, 4, 4}),
            "here: 3 input and 4 output channels can't be divided into 2 groups");
  EXPECT_EQ(
      test::layer_error("tiled_convolution",
                        {{"channels", 4}, {"kernel", 1}, {"period", Shape{1, 2, 3}}}, {2, 3, 4, 4}),
      "here: [tiled_convolution] 'period' is [1, 2, 3], expected 1 or 2 entries");
}

}  // namespace
}  // namespace tutti
