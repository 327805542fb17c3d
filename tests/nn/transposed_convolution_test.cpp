// SPDX-License-Identifier: Apache-2.0
#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using test::applied;
using test::Applied;

TEST(TransposedConvolution, OutputShapes) {
  const struct {
    Settings settings;
    Shape in, out;
  } cases[] = {
      {{{"channels", 4}, {"kernel", 3}}, {2, 3, 5, 6}, {2, 4, 7, 8}},
      {{{"channels", 4}, {"kernel", 2}, {"stride", 2}}, {2, 3, 5}, {2, 4, 10}},
      {{{"channels", 4}, {"kernel", 3}, {"stride", 2}, {"padding", 1}, {"output_padding", 1}},
       {2, 3, 5, 6},
       {2, 4, 10, 12}},
      {{{"channels", 6}, {"kernel", Shape{3, 1, 2}}, {"groups", 3}, {"dilation", 2}},
       {2, 3, 4, 4, 4},
       {2, 6, 8, 4, 6}},
  };
  for (const auto& [settings, in, out] : cases)
    EXPECT_EQ(applied("transposed_convolution", settings, in).shape(), out);
}

// ⟨convolution(u), x⟩ = ⟨u, transposed_convolution(x)⟩ with the same weight.
TEST(TransposedConvolution, IsTheAdjointOfConvolution) {
  const Settings common{{"kernel", 3}, {"stride", 2},   {"padding", 1},
                        {"groups", 2}, {"bias", false}, {"dilation", 1}};
  Settings forward = common, transposed = common;
  forward.set("channels", std::int64_t{4});  // 6 × 8 × 8 → 4 × 4 × 4
  transposed.set("channels", std::int64_t{6});
  transposed.set("output_padding", std::int64_t{1});
  const Applied down = applied("convolution", forward, {2, 6, 8, 8});
  const Applied up = applied("transposed_convolution", transposed, {2, 4, 4, 4});
  ASSERT_EQ(up.shape(), (Shape{2, 6, 8, 8}));
  const Array w = contract::random_array({DType::f64, {4, 3, 3, 3}}, 3);
  const Array u = contract::random_array({DType::f64, {2, 6, 8, 8}}, 1);
  const Array x = contract::random_array({DType::f64, {2, 4, 4, 4}}, 2);
  const Array a = down.output(u, {{down.parameter("weight"), w}});
  const Array b = up.output(x, {{up.parameter("weight"), w}});
  double left = 0, right = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) left += a.get(i) * x.get(i);
  for (std::int64_t i = 0; i < b.count(); ++i) right += b.get(i) * u.get(i);
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(TransposedConvolution, Refusals) {
  const char* layer = "transposed_convolution";
  EXPECT_EQ(test::layer_error(layer, {{"channels", 4}, {"kernel", 2}, {"output_padding", 1}},
                              {2, 3, 5, 5}),
            "here: 'output_padding' is 1, expected less than the stride 1");
  EXPECT_EQ(test::layer_error(layer, {{"channels", 4}, {"kernel", 2}, {"groups", 2}}, {2, 3, 5, 5}),
            "here: 3 input and 4 output channels can't be divided into 2 groups");
  EXPECT_EQ(
      test::layer_error(layer, {{"channels", 4}, {"kernel", 1}, {"padding", 3}}, {2, 3, 5, 5}),
      "here: the output would have an extent of -1: the padding is too large for 5×5");
  EXPECT_EQ(test::layer_error(layer, {{"channels", 4}, {"kernel", Shape{1, 2, 3}}}, {2, 3, 5, 5}),
            "here: 'kernel' is [1, 2, 3], expected 1 or 2 entries for an image of 5×5");
}

}  // namespace
}  // namespace tutti
