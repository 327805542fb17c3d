// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/flat.h"

#include "expect_error.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

RangeTable two() {
  RangeTable table;
  table.add("w", {3, 5});
  table.add("b", {5});
  return table;
}

TEST(RangeTable, LaysTensorsOutAligned) {
  const RangeTable table = two();
  EXPECT_EQ(table.find("w").offset, 0);
  EXPECT_EQ(table.find("w").count, 15);
  EXPECT_EQ(table.find("b").offset, 16);
  EXPECT_EQ(table.find("b").end(), 21);
  EXPECT_EQ(table.at(16), &table.find("b"));
  EXPECT_EQ(table.at(1), nullptr);
  EXPECT_EQ(table.at(32), nullptr);
  EXPECT_EQ(table.count(), 32);
  EXPECT_EQ(RangeTable().count(), 0);
}

TEST(RangeTable, HoldsTensorsWhole) {
  const RangeTable table = two();
  const Range& w = table.find("w");
  EXPECT_EQ(w.global_shape, w.shape);
  EXPECT_EQ(w.start, (Shape{0, 0}));
}

TEST(RangeTable, CountsParametersWithoutGaps) {
  RangeTable table = two();
  EXPECT_EQ(table.parameters(false), 20);
  table.ranges[1].trainable = false;
  EXPECT_EQ(table.parameters(true), 15);
  EXPECT_EQ(table.parameters(false), 20);
}

TEST(RangeTable, ScalarsAndEmptyTensors) {
  RangeTable table;
  table.add("scalar", {});
  table.add("empty", {0, 4});
  table.add("next", {1});
  EXPECT_EQ(table.find("scalar").count, 1);
  EXPECT_EQ(table.find("empty").count, 0);
  EXPECT_EQ(table.find("next").offset, 16);
}

TEST(RangeTable, UnknownNameIsAnError) {
  expect_error([] { two().find("x"); }, {"no parameter 'x'"});
}

}  // namespace
}  // namespace tutti
