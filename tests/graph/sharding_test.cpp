// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/sharding.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tutti {
namespace {

using Indices = std::vector<std::vector<std::string>>;

TEST(Sharding, ReadsTheIndicesOfEachTensor) {
  const ShardingRule rule = parse_sharding("x[n,i] w[o,i] -> y[n,o]");
  EXPECT_EQ(rule.inputs, (Indices{{"n", "i"}, {"o", "i"}}));
  EXPECT_EQ(rule.outputs, (Indices{{"n", "o"}}));
}

TEST(Sharding, ReadsWindowsAndWhatMayNotBeSplit) {
  const ShardingRule rule = parse_sharding("x[n,c,h+k] w[o,c,k] -> y[n,o,h] index[n,*,h]");
  EXPECT_EQ(rule.inputs[0], (std::vector<std::string>{"n", "c", "h+k"}));
  EXPECT_EQ(rule.outputs, (Indices{{"n", "o", "h"}, {"n", "*", "h"}}));
}

TEST(Sharding, ScalarsHaveNoIndex) {
  const ShardingRule rule = parse_sharding("x[n] s[] -> y[]");
  EXPECT_EQ(rule.inputs, (Indices{{"n"}, {}}));
  EXPECT_EQ(rule.outputs, (Indices{{}}));
}

TEST(Sharding, OperatorsMayHaveNoInput) {
  const ShardingRule rule = parse_sharding("-> y[*]");
  EXPECT_TRUE(rule.inputs.empty());
  EXPECT_EQ(rule.outputs, (Indices{{"*"}}));
}

TEST(Sharding, ARuleWithoutArrowOrBracketIsABug) {
  EXPECT_THROW(parse_sharding("x[n] y[n]"), std::logic_error);
  EXPECT_THROW(parse_sharding("x[n] -> y[n"), std::logic_error);
}

}  // namespace
}  // namespace tutti
