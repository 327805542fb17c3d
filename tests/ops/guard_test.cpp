// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/guard.h"

#include "run_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::ops {
namespace {

// The word after a step that saw these values.
std::int64_t word_after(std::int64_t step, std::vector<double> x, std::int64_t word) {
  const Settings settings;
  std::int64_t next = -1;
  guard.reference({.settings = settings,
                   .in = {{DType::f64, {static_cast<std::int64_t>(x.size())}, x.data()},
                          {DType::i64, {}, &word}},
                   .out = {{DType::i64, {}, &next}},
                   .step = {.step = step}});
  return next;
}

TEST(Guard, KeepsTheFirstStepThatWasNotFinite) {
  EXPECT_EQ(word_after(0, {1, 2}, 0), 0);
  EXPECT_EQ(word_after(0, {1, NAN}, 0), 1);
  EXPECT_EQ(word_after(7, {INFINITY, 1}, 0), 8);
  EXPECT_EQ(word_after(9, {1, 1}, 8), 8) << "it sticks";
  EXPECT_EQ(word_after(9, {NAN, 1}, 8), 8) << "the first one counts";
}

TEST(Guard, RefusesOtherTypes) {
  const Type x{DType::f32, {}}, word{DType::i64, {}};
  EXPECT_EQ(error_of(guard, {x, x, word}), "");
  EXPECT_TRUE(contains(error_of(guard, {{DType::i32, {}}, word}), "[guard] input 0 is i32"));
  EXPECT_TRUE(contains(error_of(guard, {x, x}), "[guard] the word is f32 scalar"))
      << error_of(guard, {x, x});
}

}  // namespace
}  // namespace tutti::ops
