// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/range.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

using Int = std::int64_t;

const Type block{DType::f32, {48}}, norm{DType::f32, {}};
const Settings sgd{{"rule", std::string("sgd")}};
const Settings clipped{{"rule", std::string("momentum")}, {"clip_norm", 1.0}};

Settings block_settings(Int count) {
  return {{"axes", std::string("data")}, {"offset", Int{16}}, {"count", count}};
}

std::vector<Type> update_outputs(const std::vector<Type>& in, const Settings& settings) {
  const Graph graph = graph_of(update, in, settings);
  return graph.types(graph.nodes[0].outputs);
}

TEST(AllreduceBlock, GivesOneBlockForTheGradientsInIt) {
  const std::vector<Type> in{{DType::f32, {5, 3}}, {DType::f32, {32}}};
  const Graph graph = graph_of(allreduce_block, in, block_settings(48));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), block);
  EXPECT_EQ(error_of(allreduce_block, in, block_settings(46)),
            "[allreduce_block] gradients have 47 elements, expected at most the block's 46");
  EXPECT_EQ(error_of(allreduce_block, {{DType::f64, {4}}}, block_settings(48)),
            "[allreduce_block] a gradient is f64, expected f32");
}

TEST(ReduceScatter, GivesTheOwnPartOfABlock) {
  const auto settings = [](Int offset, Int count) {
    return Settings{{"axes", std::string("data")}, {"part_offset", offset}, {"part_count", count}};
  };
  const Graph graph = graph_of(reduce_scatter, {block}, settings(16, 32));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), (Type{DType::f32, {32}}));
  EXPECT_EQ(error_of(reduce_scatter, {block}, settings(32, 17)),
            "[reduce_scatter] a part 17 at element 32 is not inside the block 48");
  // 32 elements of its own, so 16 of others are added.
  EXPECT_EQ(reduce_scatter.cost(settings(16, 32), {block}, {{DType::f32, {32}}}).work, 16);
}

TEST(Allgather, GivesTheBlockOfAPart) {
  const auto settings = [](Int offset, Int count) {
    return Settings{{"axes", std::string("data")}, {"part_offset", offset}, {"count", count}};
  };
  const Graph graph = graph_of(allgather, {{DType::f32, {16}}}, settings(32, 48));
  EXPECT_EQ(graph.type(graph.nodes[0].outputs[0]), block);
  EXPECT_EQ(error_of(allgather, {block}, settings(16, 48)),
            "[allgather] a part 48 at element 16 is not inside the block 48");
}

TEST(SquareSum, IsOverAllBlocksOrAPartOfEach) {
  const std::vector<Argument> blocks{{{2}, {2, 4}}, {{3}, {5, 6, 0}}};
  EXPECT_EQ(run(square_sum, blocks)[0], 81);
  EXPECT_EQ(run(square_sum, blocks, {{"firsts", Shape{1, 0}}, {"counts", Shape{1, 2}}})[0], 77);
  EXPECT_PRED2(contains, error_of(square_sum, {block, {DType::f64, {3}}}),
               "[square_sum] blocks are f32 and f64");
  EXPECT_PRED2(contains,
               error_of(square_sum, {block}, {{"firsts", Shape{1}}, {"counts", Shape{48}}}),
               "part 0 ends at element 49, expected at most the block's 48");
  EXPECT_PRED2(contains, error_of(square_sum, {block, block}, {{"counts", Shape{1}}}),
               "0 firsts and 1 counts, expected one for each of 2 blocks");
}

TEST(GradientNorm, IsTheRootOfTheSumOfSquares) {
  EXPECT_EQ(run(gradient_norm, {{{}, {81}}}, {{"dtype", std::string("f64")}})[0], 9);
  EXPECT_PRED2(contains, error_of(gradient_norm, {block}),
               "[gradient_norm] the sum of squares is f32 48, expected a floating-point scalar");
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
