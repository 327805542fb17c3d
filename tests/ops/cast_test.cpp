// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/cast.h"

#include "tutti/core/bf16.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/operators.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Cast, RoundsToBf16AndWidensWhatIsLeft) {
  std::vector<float> x = {1, 1 + 1.0f / 256, -257, 3e-39f, INFINITY}, widened(x.size());
  std::vector<Bf16> rounded(x.size());
  const Shape shape{static_cast<std::int64_t>(x.size())};
  const Settings none;
  cast.reference({none, {{DType::f32, shape, x.data()}}, {{DType::bf16, shape, rounded.data()}}});
  cast.reference(
      {none, {{DType::bf16, shape, rounded.data()}}, {{DType::f32, shape, widened.data()}}});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(widened[i], float{Bf16(x[i])});
  EXPECT_EQ(widened[1], 1);
  EXPECT_EQ(widened[2], -256);
}

TEST(Cast, TakesNumbersThatAreNotWhole) {
  EXPECT_EQ(error_of(cast, {{DType::i32, {3}}}, {{"to", "bf16"}}),
            "[cast] x is i32, expected f32, bf16 or f64");
}

TEST(Cast, WhatTravelsMayBeBf16) {
  EXPECT_EQ(error_of(allreduce, {{DType::bf16, {3}}}, {{"axes", "data"}}), "");
}

TEST(Cast, NoOtherOperatorComputesInBf16) {
  int refused = 0;
  for (const OpEntry& entry : operators()) {
    if (entry.op->bf16 || entry.op->cases == nullptr) continue;
    for (const OpCase& size : entry.op->cases()) {
      std::vector<Type> in = size.in;
      for (Type& type : in)
        if (!(type == Type{}) && is_float(type.dtype)) type.dtype = DType::bf16;
      if (in == size.in) continue;
      EXPECT_TRUE(contains(error_of(*entry.op, in, size.settings), "does not compute in bf16"))
          << entry.name;
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tutti::ops
