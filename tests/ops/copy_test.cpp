// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/copy.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Copy, AndReorderKeepValuesOfEveryType) {
  EXPECT_EQ(run(copy, {matrix}), matrix.values);
  EXPECT_EQ(run(reorder, {matrix}), matrix.values);
  EXPECT_EQ(error_of(copy, {{DType::i32, {3}}}), "");
}

}  // namespace
}  // namespace tutti::ops
