// SPDX-License-Identifier: Apache-2.0
#include "nn/apply_layer.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using contract::Array;
using test::applied;
using test::Applied;

TEST(EmbeddingLayer, RoundsValuesToRows) {
  const Applied a = applied("embedding", {{"rows", 4}, {"width", 2}}, {1, 3});
  EXPECT_EQ(a.shape(), (Shape{1, 3, 2}));
  EXPECT_TRUE(a.net.table.ranges[0].row_sparse);
  Array x({DType::f64, {1, 3}}), table({DType::f64, {4, 2}});
  const double values[] = {3, 0, 2.0000001};
  for (int i = 0; i < 3; ++i) x.set(i, values[i]);
  for (int i = 0; i < 8; ++i) table.set(i, i);
  const Array y = a.output(x, {{a.net.parameters[0], table}});
  const double expected[] = {6, 7, 0, 1, 4, 5};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(y.get(i), expected[i]);
}

}  // namespace
}  // namespace tutti
