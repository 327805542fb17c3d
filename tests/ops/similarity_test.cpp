// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/similarity.h"

#include "tutti/ops/matmul.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

Settings kind(const char* name) { return {{"kind", std::string(name)}}; }

TEST(Similarity, B34IsTheWeightedDistanceToATemplate) {
  const Argument x{{1, 2}, {1, 5}}, z{{2, 2}, {1, 3, 2, 5}}, u{{2, 2}, {10, 1, 1, 10}};
  EXPECT_EQ(run(similarity, {x, z, u}, kind("l1")), (Values{-2, -1}));
  EXPECT_EQ(run(similarity, {x, z, u}, kind("l2")), (Values{-4, -1}));
}

TEST(Similarity, B34WithTheProductItIsALinearLayer) {
  const Argument x{{2, 2}, {1, 2, 3, 4}}, z{{2, 2}, {5, -6, 7, 8}}, one{{2, 2}, {1, 1, 1, 1}};
  EXPECT_EQ(run(similarity, {x, z, one}, kind("product")),
            run(matmul, {x, z}, {{"transpose_b", true}}));
}

TEST(Similarity, WhatDoesNotFitIsRefused) {
  const Type x{DType::f32, {2, 3}}, z{DType::f32, {4, 3}};
  EXPECT_EQ(error_of(similarity, {x, {DType::f32, {4, 2}}, z}),
            "[similarity] x is f32 2×3 and z f32 4×2, expected samples × features and outputs × "
            "features");
  EXPECT_EQ(error_of(similarity, {x, z, x}), "[similarity] u is f32 2×3, expected f32 4×3 like z");
}

}  // namespace
}  // namespace tutti::ops
