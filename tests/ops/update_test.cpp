// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/update.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

const Type block{DType::f32, {48}}, norm{DType::f32, {}};
const Settings sgd{{"rule", std::string("sgd")}};
const Settings clipped{{"rule", std::string("momentum")}, {"clip_norm", 1.0}};

std::vector<Type> update_outputs(const std::vector<Type>& in, const Settings& settings) {
  const Graph graph = graph_of(update, in, settings);
  return graph.types(graph.nodes[0].outputs);
}

TEST(Update, GivesWeightsStatesAndTheSumOfSquares) {
  const Type squares{DType::f64, {}};
  EXPECT_EQ(update_outputs({block, block}, sgd), (std::vector<Type>{block, squares}));
  EXPECT_EQ(update_outputs({block, block, block, block}, sgd),
            (std::vector<Type>{block, block, block, squares}));
  EXPECT_EQ(update_outputs({block, block, block, norm}, clipped),
            (std::vector<Type>{block, block, squares}));
}

TEST(Update, BlocksThatDoNotFitAreRefused) {
  EXPECT_PRED2(contains, error_of(update, {block}, sgd), "[update] 1 inputs leave -1 state blocks");
  EXPECT_PRED2(contains, error_of(update, std::vector<Type>(7, block), sgd),
               "leave 5 state blocks");
  EXPECT_PRED2(contains, error_of(update, {block, {DType::f32, {32}}}, sgd),
               "[update] block 1 is f32 32, expected a vector like the gradient's f32 48");
  EXPECT_PRED2(contains, error_of(update, {block, block, block}, clipped),
               "[update] the norm is f32 48, expected a scalar");
  EXPECT_PRED2(contains, error_of(update, {block, block}), "'rule' is missing");
}

TEST(Update, CostGrowsWithTheStates) {
  const Settings settings = resolve(update.settings, sgd, "");
  const Cost two_states =
      update.cost(settings, {block, block, block, block}, {block, block, block});
  EXPECT_EQ(two_states.work, 48 * 8);
  EXPECT_EQ(two_states.bytes_read, 4 * 48 * 4);
  EXPECT_EQ(two_states.bytes_written, 3 * 48 * 4);
}

}  // namespace
}  // namespace tutti::ops
