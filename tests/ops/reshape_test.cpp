// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/reshape.h"

#include "ops/run_op.h"

#include <gtest/gtest.h>

namespace tutti::ops {
namespace {

std::string reshape_error(const Shape& from, const Shape& to) {
  return error_of(reshape, {{DType::f32, from}}, {{"shape", to}});
}

TEST(Reshape, KeepsAndInfersExtents) {
  EXPECT_EQ(shape_after(reshape, {4, 3, 2}, {{"shape", Shape{0, -1}}}), (Shape{4, 6}));
  EXPECT_EQ(shape_after(reshape, {4, 6}, {{"shape", Shape{-1, 8}}}), (Shape{3, 8}));
  EXPECT_EQ(shape_after(reshape, {0, 3, 2}, {{"shape", Shape{0, -1}}}), (Shape{0, 6}));
  EXPECT_EQ(shape_after(reshape, {1, 1}, {{"shape", Shape{}}}), Shape{});
  EXPECT_EQ(run(reshape, {matrix}, {{"shape", Shape{3, 2}}}), (Values{1, 2, 3, 4, 5, 6}));
}

std::string rule(const Shape& from, const Shape& to) {
  return reshape.sharding({{"shape", to}}, {{DType::f32, from}});
}

TEST(Reshape, MergesAndSplitsIndices) {
  EXPECT_EQ(rule({4, 3, 2}, {0, -1}), "x[a,b,c] -> y[a,b·c]");
  EXPECT_EQ(rule({4, 3, 2}, {-1, 2}), "x[a,b,*] -> y[a·b,*]");
  EXPECT_EQ(rule({12, 2}, {-1, 3, 2}), "x[a·*,*] -> y[a,*,*]");
  EXPECT_EQ(rule({6, 4}, {-1, 12}), "x[a·*,c] -> y[a,*·c]");
  EXPECT_EQ(rule({24}, {-1, 3, 2}), "x[a·*·*] -> y[a,*,*]");
  EXPECT_EQ(rule({4, 3, 2}, {-1}), "x[a,b,c] -> y[a·b·c]");
  EXPECT_EQ(rule({4, 3, 2}, {0, 0, 2, 1}), "x[a,b,*] -> y[a,b,*,*]");
  EXPECT_EQ(rule({4, 1, 2}, {-1, 2}), "x[a,*,c] -> y[a,*·c]");
}

// A rule must not depend on how many samples there are.
TEST(Reshape, HasTheSameRuleForOneSample) {
  EXPECT_EQ(rule({1, 3, 2}, {-1, 2}), "x[a,b,*] -> y[a·b,*]");
  EXPECT_EQ(rule({3, 2}, {-1, 3, 2}), "x[a·*,*] -> y[a,*,*]");
}

TEST(Reshape, WrittenExtentsMayNotBeSplit) {
  EXPECT_EQ(rule({4, 6}, {4, 2, 3}), "x[*,*·*] -> y[*,*,*]");
  EXPECT_EQ(rule({2, 3, 4}, {6, 4}), "x[*,b,*] -> y[*·b,*]");
  EXPECT_EQ(rule({4, 6}, {3, 8}), "x[*,*] -> y[*,*]") << "6 and 8 don't divide each other";
}

// The backward graph of one batch must hold for another after the pass that splits it.
TEST(Reshape, GradientDoesNotWriteDownTheBatch) {
  for (const auto& [shape, back] : {std::pair{Shape{0, -1}, Shape{0, 3, 2}},
                                    {Shape{-1, 2}, Shape{-1, 3, 2}},
                                    {Shape{-1}, Shape{-1, 3, 2}}}) {
    Graph graph = graph_of(reshape, {{DType::f32, {4, 3, 2}}}, {{"shape", shape}});
    const Node node = graph.nodes[0];
    node.op->gradient(graph, node, node.outputs);
    EXPECT_EQ(graph.nodes.back().settings.integers("shape"), back);
    EXPECT_EQ(graph.shape(graph.nodes.back().outputs[0]), (Shape{4, 3, 2}));
  }
}

TEST(Reshape, ShapesThatDoNotFitAreRefused) {
  EXPECT_PRED2(contains, reshape_error({2, 3}, {4, 2}), "[reshape] 2×3 does not fit shape [4, 2]");
  EXPECT_PRED2(contains, reshape_error({2, 3}, {-1, 4}), "does not fit shape [-1, 4]");
  EXPECT_PRED2(contains, reshape_error({2, 3}, {-1, -1}), "two entries -1");
  EXPECT_PRED2(contains, reshape_error({6}, {6, 0}), "entry 1 of shape [6, 0] keeps a dimension");
  EXPECT_PRED2(contains, reshape_error({6}, {-2}), "'shape' is -2, expected at least -1");
}

}  // namespace
}  // namespace tutti::ops
