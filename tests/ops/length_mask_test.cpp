// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/length_mask.h"

#include "tutti/ops/embedding.h"

#include "expect_error.h"
#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Settings three_tokens{{"tokens", std::int64_t{3}}, {"dtype", "f64"}};

TEST(LengthMask, SaysWhichTokensThereAre) {
  EXPECT_EQ(run(length_mask, {labels({2, 0, 3})}, three_tokens),
            (Values{1, 1, 0, 0, 0, 0, 1, 1, 1}));
  Settings mean = three_tokens;
  mean.set("mean", true);
  EXPECT_EQ(run(length_mask, {labels({2, 0})}, mean), (Values{0.5, 0.5, 0, 0, 0, 0}));
}

TEST(LengthMask, RefusesOtherLengths) {
  for (const double length : {4, -1})
    tutti::expect_error(
        [&] {
          run(length_mask, {labels({1, length})}, three_tokens);
        },
        {"[length_mask] sample 1 has", "expected 0 to 3"});
  EXPECT_PRED2(contains, error_of(length_mask, {{DType::f32, {4}}}, three_tokens), "f32 4");
  EXPECT_PRED2(contains, error_of(length_mask, {{DType::i32, {4, 2}}}, three_tokens), "i32 4×2");
}

TEST(ToReal, TakesIntegersOnly) {
  EXPECT_PRED2(contains, error_of(to_real, {{DType::f32, {4}}}, {}), "works on integers, not f32");
}

}  // namespace
}  // namespace tutti::ops
