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

TEST(Sharding, AMergedIndexIsSplitAlongItsOutermost) {
  const ShardingRule rule = parse_sharding("x[n,t,d] -> y[n·t,d]");
  EXPECT_EQ(rule.outputs, (Indices{{"n·t", "d"}}));
  EXPECT_EQ(merged_indices("n·t·u"), (std::vector<std::string>{"n", "t", "u"}));
  EXPECT_EQ(merged_indices("d"), std::vector<std::string>{"d"});
  EXPECT_EQ(split_index("n·t"), "n");
  EXPECT_EQ(split_index("n·*"), "n");
  EXPECT_EQ(split_index("d"), "d");
  for (const char* whole : {"*", "*·t", "h+k"}) EXPECT_EQ(split_index(whole), "") << whole;
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
