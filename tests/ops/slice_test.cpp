// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/slice.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using Int = std::int64_t;

TEST(Slice, CutsAndPads) {
  EXPECT_EQ(run(slice, {matrix}, {{"begin", Int{1}}, {"end", Int{3}}}), (Values{2, 3, 5, 6}));
  EXPECT_EQ(run(slice, {matrix}, {{"axis", Int{-2}}, {"begin", Int{1}}, {"end", Int{2}}}),
            (Values{4, 5, 6}));
  EXPECT_EQ(run(slice_grad, {{{2, 1}, {7, 8}}}, {{"begin", Int{1}}, {"extent", Int{3}}}),
            (Values{0, 7, 0, 0, 8, 0}));
}

TEST(Slice, APartOutsideIsRefused) {
  const std::vector<Type> in{{DType::f32, {2, 3}}};
  EXPECT_PRED2(contains, error_of(slice, in, {{"begin", Int{1}}, {"end", Int{4}}}),
               "[slice] the part [1, 4) does not lie in an axis of 3");
  EXPECT_PRED2(contains, error_of(slice, in, {{"begin", Int{2}}, {"end", Int{1}}}), "[2, 1)");
  EXPECT_PRED2(contains, error_of(slice, in), "'end' is missing");
  EXPECT_PRED2(contains, error_of(slice_grad, in, {{"begin", Int{1}}, {"extent", Int{3}}}),
               "[slice_grad] the part [1, 4)");
}

}  // namespace
}  // namespace tutti::ops
