// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/embedding.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

TEST(Embedding, TakesRows) {
  const Argument table{{3, 2}, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(run(embedding, {table, labels({2, 0, 2})}), (Values{5, 6, 1, 2, 5, 6}));
}

TEST(Embedding, TheGradientAddsUpWhatARowWasUsedForAndLeavesOthersZero) {
  const Argument dy{{3, 2}, {1, 2, 10, 20, 100, 200}};
  EXPECT_EQ(run(embedding_grad, {dy, labels({2, 0, 2})}, {{"rows", std::int64_t{4}}}),
            (Values{10, 20, 0, 0, 101, 202, 0, 0}));
}

TEST(Embedding, ARowThatIsNotThereIsNamed) {
  const Argument table{{3, 2}, Values(6)};
  for (const double wrong : {3.0, -1.0}) {
    try {
      run(embedding, {table, labels({0, wrong})});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                fmt::format("[embedding] element 1 of the index is {}, expected 0 to 2", wrong));
    }
  }
}

TEST(Embedding, TypesThatDoNotFitAreRefused) {
  EXPECT_EQ(error_of(embedding, {{DType::f32, {3, 2}}, {DType::f32, {4}}}),
            "[embedding] index is f32 4, expected i32");
  EXPECT_EQ(error_of(embedding, {{DType::f32, {3}}, {DType::i32, {4}}}),
            "[embedding] table is f32 3, expected floating-point rows × width");
  EXPECT_EQ(error_of(to_index, {{DType::i32, {4}}}),
            "[to_index] works on floating-point values and bytes, not i32");
}

}  // namespace
}  // namespace tutti::ops
