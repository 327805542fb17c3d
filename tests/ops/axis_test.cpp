// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/axis.h"

#include "tutti/ops/copy.h"
#include "tutti/ops/reshape.h"
#include "tutti/ops/slice.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Axis, NegativeOnesCountFromTheLast) {
  const Shape shape{2, 3, 4};
  const auto found = [&](std::int64_t axis) { return axis_of("test", {{"axis", axis}}, shape); };
  EXPECT_EQ(found(0), 0u);
  EXPECT_EQ(found(-1), 2u);
  EXPECT_EQ(found(-3), 0u);
  EXPECT_THROW(found(3), Error);
  EXPECT_THROW(found(-4), Error);
}

TEST(Axis, OnlyTheOthersMayBeSplit) {
  const Type x{DType::f32, {2, 3, 4}};
  EXPECT_EQ(sharding_along({{"axis", std::int64_t{-2}}}, {x, x}),
            "x0[a,*,c] x1[a,*,c] -> y[a,*,c]");
}

TEST(Axis, MovementCostsBytesAndNoWork) {
  const std::vector<Type> in{{DType::f32, {2, 3}}};
  EXPECT_EQ(copy.cost({}, in, in).work, 0);
  EXPECT_EQ(copy.cost({}, in, in).bytes_read, 24);
  EXPECT_EQ(copy.cost({}, in, in).bytes_written, 24);
  EXPECT_EQ(reshape.cost({}, in, in).bytes_read, 0);
  EXPECT_EQ(slice.cost({}, in, {{DType::f32, {2, 1}}}).bytes_read, 8);
}

}  // namespace
}  // namespace tutti::ops
