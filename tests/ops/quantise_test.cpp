// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/quantise.h"

#include "contract/interpreter.h"
#include "ops/run_op.h"

#include <cmath>
#include <limits>

namespace tutti::ops {
namespace {

using contract::Array;

Array matrix_of(Shape shape, const Values& values) {
  Array array({DType::f64, std::move(shape)});
  for (std::size_t i = 0; i < values.size(); ++i)
    array.set(static_cast<std::int64_t>(i), values[i]);
  return array;
}

// Ties go to the even neighbour; a row of zeros stays one.
TEST(Quantise, B03RoundsRowsToTheNearest) {
  const Array x = matrix_of({3, 4}, {254, -254, 3, 1, 0.127, 0.0635, -0.0015, 0.0026, 0, 0, 0, 0});
  const std::vector<Array> made = contract::run_reference(quantise, {}, {x});
  const Values expected = {127, -127, 2, 0, 127, 64, -2, 3, 0, 0, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(made[0].get(static_cast<std::int64_t>(i)), expected[i]) << i;
  EXPECT_EQ(made[1].get(0), 2);
  EXPECT_DOUBLE_EQ(made[1].get(1), 0.001);
  EXPECT_EQ(made[1].get(2), 0);
}

TEST(Quantise, B03ErrsByHalfAStepAtMost) {
  const Array x = contract::random_array({DType::f64, {5, 300}}, 3);
  const std::vector<Array> made = contract::run_reference(quantise, {}, {x});
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const double scale = made[1].get(i / 300);
    EXPECT_LE(std::abs(made[0].get(i) * scale - x.get(i)), 0.5000001 * scale) << i;
  }
}

TEST(Quantise, WhatIsNotFiniteShows) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Array x = matrix_of({2, 2}, {1, bad, 1, 2});
    const std::vector<Array> made = contract::run_reference(quantise, {}, {x});
    EXPECT_TRUE(std::isnan(made[1].get(0)));
    EXPECT_DOUBLE_EQ(made[1].get(1), 2.0 / 127);
  }
}

TEST(Quantise, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of(quantise, {{DType::i32, {2, 3}}}),
            "[quantise] x is i32 2×3, expected a matrix of floating-point numbers");
  const Type sums{DType::i32, {2, 3}}, rows{DType::f32, {2}}, columns{DType::f32, {3}};
  EXPECT_EQ(error_of(dequantise, {sums, rows, columns, columns}), "");
  EXPECT_TRUE(contains(error_of(dequantise, {sums, columns, rows}), "they do not fit"));
  EXPECT_TRUE(contains(error_of(dequantise, {rows, rows, columns}), "expected a matrix of i32"));
}

TEST(Dequantise, B03ScalesRowsAndColumns) {
  const Argument sums{{2, 3}, {1, -2, 3, 4, -5, 6}, DType::i32};
  const Argument rows{{2}, {2, 10}}, columns{{3}, {1, 3, 0.5}}, bias{{3}, {1, 0, -40}};
  expect_near(run(dequantise, {sums, rows, columns}), {2, -12, 3, 40, -150, 30});
  expect_near(run(dequantise, {sums, rows, columns, bias}, {{"activation", "relu"}}),
              {3, 0, 0, 41, 0, 0});
}

}  // namespace
}  // namespace tutti::ops
