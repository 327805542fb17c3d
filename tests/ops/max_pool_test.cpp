// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/max_pool.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti::ops {
namespace {

using contract::Array;
using Integers = std::vector<std::int64_t>;

std::vector<Array> pool(const Op& op, const Settings& settings, std::vector<Array> in) {
  return contract::run_reference(op, resolve(op.settings, settings, "[" + op.name + "]"),
                                 std::move(in));
}

// B16: in windows that do not overlap, each dy arrives at exactly one element, that of the maximum.
TEST(MaxPool, B16GradientGoesToOneWinnerPerWindow) {
  Settings settings{{"kernel", Integers{2, 3}}};
  const Array x = contract::random_array({DType::f64, {2, 3, 4, 6}}, 1);
  const auto pooled = pool(max_pool, settings, {x});
  const Array dy = contract::random_array(pooled[0].type, 2);
  settings.set("spatial", Integers{4, 6});
  const Array dx = pool(max_pool_grad, settings, {dy, pooled[1]})[0];
  EXPECT_NEAR(contract::sum_of(dx), contract::sum_of(dy), 1e-12);
  for (std::int64_t plane = 0; plane < 6; ++plane)
    for (std::int64_t row = 0; row < 2; ++row)
      for (std::int64_t column = 0; column < 2; ++column) {
        const std::int64_t out = (plane * 2 + row) * 2 + column;
        int winners = 0;
        for (std::int64_t k = 0; k < 6; ++k) {
          const std::int64_t at = (plane * 4 + row * 2 + k / 3) * 6 + column * 3 + k % 3;
          EXPECT_LE(x.get(at), pooled[0].get(out));
          if (dx.get(at) == 0) continue;
          ++winners;
          EXPECT_EQ(dx.get(at), dy.get(out));
          EXPECT_EQ(x.get(at), pooled[0].get(out));
          EXPECT_EQ(pooled[1].get(out), k) << "position inside the window, row-major";
        }
        EXPECT_EQ(winners, 1);
      }
}

TEST(MaxPool, TheFirstOfEqualsWins) {
  Array x({DType::f64, {1, 1, 4}});
  for (const std::int64_t i : {1, 2, 3}) x.set(i, 5);
  const auto pooled = pool(max_pool, {{"kernel", Integers{4}}}, {x});
  EXPECT_EQ(pooled[0].get(0), 5);
  EXPECT_EQ(pooled[1].get(0), 1);
}

// The padding counts in the position but never wins, even over negative values.
TEST(MaxPool, PaddingIsCountedButNeverWins) {
  Array x({DType::f64, {1, 1, 2}});
  x.set(0, -3), x.set(1, -7);
  const auto pooled = pool(
      max_pool, {{"kernel", Integers{2}}, {"padding", Integers{1}}, {"stride", Integers{1}}}, {x});
  ASSERT_EQ(pooled[0].type.shape, (Shape{1, 1, 3}));
  const double values[] = {-3, -3, -7}, positions[] = {1, 0, 0};
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pooled[0].get(i), values[i]);
    EXPECT_EQ(pooled[1].get(i), positions[i]);
  }
}

TEST(MaxPool, IndexTypeHoldsEveryPosition) {
  EXPECT_EQ(pool_index_type(255), DType::u8);
  EXPECT_EQ(pool_index_type(256), DType::i32);
  Array x({DType::f64, {1, 1, 300}});
  x.set(299, 1);
  const auto pooled = pool(max_pool, {{"global", true}}, {x});
  EXPECT_EQ(pooled[1].type.dtype, DType::i32);
  EXPECT_EQ(pooled[1].get(0), 299);
}

// K02: work N·C·H'·W'·Ky·Kx, depth log Ky + log Kx.
TEST(MaxPool, K02WorkAndDepth) {
  const Settings settings = resolve(max_pool.settings, {{"kernel", Integers{2, 3}}}, "");
  const std::vector<Type> in{{DType::f32, {2, 3, 8, 9}}}, out = max_pool.infer(settings, in);
  const Cost cost = max_pool.cost(settings, in, out);
  EXPECT_EQ(cost.work, 2 * 3 * 8 * 9);
  EXPECT_EQ(cost.depth, 1 + 2);
  EXPECT_EQ(cost.bytes_written, 2 * 3 * 4 * 3 * (4 + 1));
}

void expect_refused(const Op& op, const Settings& settings, const std::vector<Type>& in,
                    const char* text) {
  try {
    op.infer(resolve(op.settings, settings, "[" + op.name + "]"), in);
    FAIL() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(MaxPool, SaysWhatDoesNotFit) {
  const Type x{DType::f32, {2, 3, 8, 8}}, y{DType::f32, {2, 3, 4, 4}};
  const Settings two{{"kernel", Integers{2}}};
  Settings grad = two;
  grad.set("spatial", Integers{8, 8});
  expect_refused(max_pool, {}, {x}, "[max_pool] has no window: give 'kernel'");
  expect_refused(max_pool, two, {{DType::u8, {2, 3, 8}}}, "[max_pool] x is u8");
  expect_refused(max_pool, {{"kernel", Integers{2}}, {"padding", Integers{2}}}, {x},
                 "padding 2 is not smaller than the window of 2");
  expect_refused(max_pool, {{"kernel", Integers{9}}}, {x}, "a window that spans 9 does not fit");
  expect_refused(max_pool_grad, grad, {{DType::f32, {2, 3, 4, 3}}, {DType::u8, {2, 3, 4, 3}}},
                 "dy is 2×3×4×3, but pooling 2×3×8×8 returns 2×3×4×4");
  expect_refused(max_pool_grad, grad, {y, {DType::i32, {2, 3, 4, 4}}},
                 "index is i32 2×3×4×4, expected u8");
  expect_refused(max_pool_gather, two, {x, {DType::u8, {2, 3, 4, 3}}}, "index is u8 2×3×4×3");
}

}  // namespace
}  // namespace tutti::ops
