// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/matmul_i8.h"

#include "ops/run_op.h"

namespace tutti::ops {
namespace {

TEST(MatmulI8, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of(matmul_i8, {{DType::i8, {2, 3}}, {DType::u8, {4, 3}}}),
            "[matmul_i8] factors are i8 2×3 and u8 4×3, expected i8 [m,k] and i8 [n,k]");
  EXPECT_EQ(error_of(matmul_i8, {{DType::i8, {1, 131072}}, {DType::i8, {1, 131072}}}),
            "[matmul_i8] adds up 131072 products, expected at most 131071: more overflow 32 bits");
}

}  // namespace
}  // namespace tutti::ops
