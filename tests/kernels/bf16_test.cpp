// SPDX-License-Identifier: Apache-2.0
// Products in bf16 with sums in float: every operand is rounded to 8 bits, everything between two
// products may be stored in 16 bits, and what leaves the graph is float.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/selection.h"
#include "tutti/ops/add.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/reshape.h"

#include "contract/run_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

using contract::Values;

class Bf16 : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this processor has no bf16";
  }

  ValueId feed(Shape shape) {
    const Type type{DType::f32, std::move(shape)};
    const ValueId id = graph.add_value("", type);
    feeds.insert_or_assign(id, contract::random_array(type, static_cast<std::uint64_t>(70 + id)));
    return id;
  }

  // Operands are rounded by up to 2⁻⁹ of themselves, results stored by as much; the sums of a few
  // such products differ by a few times that, and by much more than those of floats in other order.
  void expect_rounded(double least = 1e-4) {
    const Values expected = contract::evaluate(graph, feeds);
    for (const int threads : {1, 2}) {
      const contract::GraphRun found = contract::run_graph(graph, feeds, cpu_kernels(), threads);
      for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
        const double difference =
            contract::difference(found.outputs[k], expected.at(graph.outputs[k]));
        EXPECT_LE(difference, 0.03) << "output " << k << " of\n" << print(graph);
        EXPECT_GE(difference, least) << "output " << k << " is not rounded in\n" << print(graph);
      }
    }
  }

  Graph graph;
  Values feeds;
  const Settings same{{"padding", Shape{1}}, {"precision", "bf16"}};
};

TEST(Bf16Loops, RoundsToNearestEven) {
  const float one = 1.0f, ulp = 1.0f / 128, inf = std::numeric_limits<float>::infinity();
  const float x[] = {
      one, one + ulp / 2, one + ulp * 1.5f, one + ulp * 0.51f, -one - ulp * 0.51f, 0.0f,
      inf, -inf,          3.3961776e38f,    std::nanf("1")};
  const float expected[] = {one, one, one + 2 * ulp, one + ulp, -one - ulp, 0.0f, inf, -inf, inf};
  std::uint16_t narrow[std::size(x)];
  float wide[std::size(x)];
  cpu::loops().narrow_bf16(x, narrow, std::size(x));
  cpu::loops().widen_bf16(narrow, wide, std::size(x));
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(wide[i], expected[i]) << i;
  EXPECT_TRUE(std::isnan(wide[std::size(x) - 1]));
}

TEST_F(Bf16, ConvolutionAndItsGradients) {
  const ValueId x = feed({2, 32, 9, 9}), w = feed({16, 32, 3, 3}), dy = feed({2, 16, 9, 9});
  graph.outputs.push_back(graph.add1(ops::convolution, {x, w}, same));
  Settings input = same, weight = same;
  input.set("spatial", Shape{9, 9});
  weight.set("kernel", Shape{3, 3});
  graph.outputs.push_back(graph.add1(ops::convolution_grad_input, {dy, w}, input));
  graph.outputs.push_back(graph.add1(ops::convolution_grad_weight, {x, dy}, weight));
  expect_rounded();
}

TEST_F(Bf16, BetweenProductsValuesLieIn16Bits) {
  const ValueId x = feed({3, 16, 10, 10}), w = feed({16, 16, 3, 3});
  const ValueId y = graph.add1(ops::convolution, {x, w}, same);
  const ValueId sum = graph.add1(ops::add, {graph.add1(ops::relu, {y}), y});
  const auto pooled = graph.add(ops::max_pool, {sum}, {{"kernel", Shape{2}}});
  const ValueId z = graph.add1(ops::convolution, {pooled[0], w}, same);
  const ValueId mean = graph.add1(ops::average_pool, {z}, {{"global", true}});
  const ValueId rows = graph.add1(ops::reshape, {mean}, {{"shape", Shape{3, 16}}});
  const ValueId v = feed({16, 5});
  graph.outputs = {graph.add1(ops::matmul, {rows, v}, {{"precision", "bf16"}})};
  expect_rounded();
}

TEST_F(Bf16, NormalisationReadsAndWrites16Bits) {
  const ValueId x = feed({4, 32, 7, 7}), w = feed({32, 32, 3, 3});
  const ValueId y = graph.add1(ops::convolution, {x, w}, same);
  graph.outputs.push_back(graph.add1(ops::channel_sums, {y}));
  const ValueId mean = feed({1, 32}), gamma = feed({32}), beta = feed({32});
  const Type ones{DType::f32, {1, 32}};
  const ValueId variance = graph.add_value("", ones);
  contract::Array filled = contract::random_array(ones, 1);
  for (std::int64_t i = 0; i < 32; ++i) filled.tensor().as<float>()[i] = 4.0f;
  feeds.insert_or_assign(variance, filled);
  const ValueId n = graph.add1(ops::normalise, {y, mean, variance, gamma, beta, x});
  graph.outputs.push_back(graph.add1(ops::convolution, {n, w}, same));
  expect_rounded();
}

TEST(Bf16Selection, TheReferenceKnowsFloatsOnly) {
  const KernelTable table = reference_kernels();
  try {
    backend_of(table, {.precision = "bf16"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "kernels.precision = \"bf16\" is not known to back end 'reference'; use f32");
  }
}

}  // namespace
}  // namespace tutti
