// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/average_pool.h"

#include "contract/interpreter.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using contract::Array;
using Integers = std::vector<std::int64_t>;

Array averaged(const Op& op, const Settings& settings, const Array& in) {
  return contract::run_reference(op, resolve(op.settings, settings, "[" + op.name + "]"), {in})[0];
}

// B16: what the gradient spreads is what came in.
TEST(AveragePool, B16GradientKeepsTheSum) {
  const Array dy = contract::random_array({DType::f64, {2, 3, 2, 2}}, 1);
  const Array dx =
      averaged(average_pool_grad, {{"kernel", Integers{2, 3}}, {"spatial", Integers{4, 6}}}, dy);
  EXPECT_NEAR(contract::sum_of(dx), contract::sum_of(dy), 1e-12);
  EXPECT_DOUBLE_EQ(dx.get(0), dy.get(0) / 6);
}

TEST(AveragePool, PaddingCountsOnlyOnRequest) {
  Array x({DType::f64, {1, 1, 2}});
  x.set(0, 6), x.set(1, 12);
  Settings settings{{"kernel", Integers{2}}, {"stride", Integers{1}}, {"padding", Integers{1}}};
  const Array without = averaged(average_pool, settings, x);
  settings.set("count_padding", true);
  const Array with = averaged(average_pool, settings, x);
  const double expected_without[] = {6, 9, 12}, expected_with[] = {3, 9, 6};
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(without.get(i), expected_without[i]);
    EXPECT_DOUBLE_EQ(with.get(i), expected_with[i]);
  }
}

TEST(AveragePool, GlobalIsTheMeanOfTheImage) {
  const Array x = contract::random_array({DType::f64, {1, 2, 3, 5}}, 1);
  const Array y = averaged(average_pool, {{"global", true}}, x);
  ASSERT_EQ(y.type.shape, (Shape{1, 2, 1, 1}));
  EXPECT_NEAR((y.get(0) + y.get(1)) * 15, contract::sum_of(x), 1e-12);
}

TEST(AveragePool, SaysWhatDoesNotFit) {
  const Settings settings =
      resolve(average_pool_grad.settings, {{"kernel", Integers{2}}, {"spatial", Integers{8}}}, "");
  EXPECT_THROW(average_pool_grad.infer(settings, {{DType::f32, {2, 3, 5}}}), Error);
  EXPECT_NO_THROW(average_pool_grad.infer(settings, {{DType::f32, {2, 3, 4}}}));
}

}  // namespace
}  // namespace tutti::ops
