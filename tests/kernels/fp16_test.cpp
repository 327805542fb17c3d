// SPDX-License-Identifier: Apache-2.0
// G01: conversions between float and IEEE half, and graphs whose activations are stored so.
#include "tutti/kernels/backends.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/selection.h"
#include "tutti/ops/add.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/reshape.h"
#include "tutti/ops/softmax.h"

#include "contract/run_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace tutti {
namespace cpu::baseline {
extern const Loops loops;
}

namespace {

using contract::Values;

// What the standard says a code means.
double meaning(std::uint16_t code) {
  const double sign = (code & 0x8000) != 0 ? -1 : 1;
  const int exponent = (code >> 10) & 31, mantissa = code & 1023;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

class Half : public testing::TestWithParam<const cpu::Loops*> {
 protected:
  std::uint16_t narrowed(float x) const {
    std::uint16_t code = 0;
    GetParam()->narrow_fp16(&x, &code, 1);
    return code;
  }
};

TEST_P(Half, EveryCodeIsTheStandardsG01) {
  std::vector<std::uint16_t> codes(65536), back(codes.size());
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  std::vector<float> wide(codes.size());
  GetParam()->widen_fp16(codes.data(), wide.data(), 65536);
  GetParam()->narrow_fp16(wide.data(), back.data(), 65536);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double expected = meaning(codes[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(wide[i])) << i;
      EXPECT_TRUE(std::isnan(meaning(back[i]))) << i;
      continue;
    }
    EXPECT_EQ(static_cast<double>(wide[i]), expected) << i;
    EXPECT_EQ(std::signbit(wide[i]), (codes[i] & 0x8000) != 0) << i;
    EXPECT_EQ(back[i], codes[i]);
  }
}

// Halfway between neighbours the even one is taken, and the nearer one on either side of it. Of a
// block (whole vectors) and of single elements.
TEST_P(Half, TiesGoToEvenG01) {
  std::vector<float> x;
  std::vector<std::uint16_t> expected;
  const auto expect = [&](double value, int code) {
    for (const double sign : {1.0, -1.0}) {
      x.push_back(static_cast<float>(sign * value));
      expected.push_back(static_cast<std::uint16_t>(code | (sign < 0 ? 0x8000 : 0)));
    }
  };
  for (int code = 0; code < 0x7c00; ++code) {
    // Above the largest comes what would be the next, and stands for infinity.
    const double low = meaning(static_cast<std::uint16_t>(code));
    const double high = code == 0x7bff ? 65536 : meaning(static_cast<std::uint16_t>(code + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    expect(static_cast<double>(middle), code % 2 == 0 ? code : code + 1);
    expect(static_cast<double>(std::nextafter(middle, 0.0f)), code);
    expect(static_cast<double>(std::nextafter(middle, 1e9f)), code + 1);
  }
  expect(3e38, 0x7c00);
  expect(1e-30, 0);
  std::vector<std::uint16_t> found(x.size());
  GetParam()->narrow_fp16(x.data(), found.data(), static_cast<std::int64_t>(x.size()));
  EXPECT_EQ(found, expected);
  for (std::size_t i = 0; i < x.size(); i += 997) EXPECT_EQ(narrowed(x[i]), expected[i]) << x[i];
}

INSTANTIATE_TEST_SUITE_P(, Half, testing::Values(&cpu::baseline::loops, &cpu::loops()),
                         [](const auto& given) {
                           return std::string(given.index == 0 ? "plain_" : "best_") +
                                  given.param->name;
                         });

struct Stored {
  Graph graph;
  Values feeds;

  ValueId feed(Shape shape, bool samples = false) {
    const Type type{DType::f32, std::move(shape)};
    const ValueId id = graph.add_value("", type);
    feeds.insert_or_assign(id, contract::random_array(type, static_cast<std::uint64_t>(70 + id)));
    if (samples) graph.batch.push_back(id);
    return id;
  }
};

std::vector<std::string> stored_so(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& value : graph.values)
    if (value.layout.name.find("fp16") != std::string::npos)
      names.push_back(to_string(value.type.shape));
  return names;
}

// Products, pools, sums and what is only seen through a view; statistics over samples are floats.
TEST(StoredAsHalf, ActivationsAreAndNothingElseG01) {
  Stored net;
  Graph& graph = net.graph;
  const ValueId x = net.feed({3, 16, 10, 10}, true), w = net.feed({16, 16, 3, 3});
  const Settings same{{"padding", Shape{1}}};
  const ValueId y = graph.add1(ops::convolution, {x, w}, same);
  const ValueId sum = graph.add1(ops::add, {graph.add1(ops::relu, {y}), y});
  const ValueId statistics = graph.add1(ops::channel_sums, {sum});
  const auto pooled = graph.add(ops::max_pool, {sum}, {{"kernel", Shape{2}}});
  const ValueId z = graph.add1(ops::convolution, {pooled[0], w}, same);
  const ValueId mean = graph.add1(ops::average_pool, {z}, {{"global", true}});
  const ValueId rows = graph.add1(ops::reshape, {mean}, {{"shape", Shape{0, -1}}});
  const ValueId soft =
      graph.add1(ops::softmax, {graph.add1(ops::matmul, {rows, net.feed({16, 5})})});
  const ValueId weight = graph.add1(ops::matmul, {rows, soft}, {{"transpose_a", true}});
  graph.outputs = {weight, statistics};

  const KernelTable table = cpu_kernels();
  const Values expected = contract::evaluate(graph, net.feeds);
  const Selection selection{.precision = "fp16"};
  for (const int threads : {1, 2}) {
    const contract::GraphRun found =
        contract::run_graph(graph, net.feeds, table, threads, {}, selection);
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
      // Each of a chain of eight is rounded by up to 2⁻¹¹ of itself.
      const double difference =
          contract::difference(found.outputs[k], expected.at(graph.outputs[k]));
      EXPECT_LE(difference, 0.005) << k;
      EXPECT_GE(difference, 1e-5) << "output " << k << " is not rounded";
    }
  }
  const Backend backend = backend_of(table, selection);
  PassContext context{.backend = backend};
  Graph laid_out = graph;
  PassRunner().run_all(laid_out, context);
  for (const std::string& shape : stored_so(laid_out))
    EXPECT_EQ(shape.rfind("3×", 0), 0u) << shape << " has no extent for samples in\n"
                                        << print(laid_out);
  EXPECT_GE(stored_so(laid_out).size(), 7u) << print(laid_out);
}

// A copy in floats serves neighbours; what the backward pass reads much later is the half.
TEST(StoredAsHalf, FloatsAreMadeAgainWhereTheyAreNeededLater) {
  Stored net;
  Graph& graph = net.graph;
  const ValueId x = net.feed({4, 64}, true), w = net.feed({64, 64});
  ValueId y = graph.add1(ops::matmul, {x, w});
  const ValueId first = y;
  for (int k = 0; k < 12; ++k) y = graph.add1(ops::matmul, {y, w});
  graph.outputs = {graph.add1(ops::matmul, {first, y}, {{"transpose_a", true}})};
  const KernelTable table = cpu_kernels();
  const Backend backend = backend_of(table, {.precision = "fp16"});
  PassContext context{.backend = backend};
  PassRunner().run_all(graph, context);
  int widened = 0;
  for (const Node& node : graph.nodes)
    widened += node.op->name == "reorder" && graph.value(node.inputs[0]).name.empty() &&
               node.inputs[0] == first;
  EXPECT_EQ(widened, 2) << print(graph);
}

TEST(StoredAsHalf, TheReferenceKnowsFloatsOnly) {
  const KernelTable table = reference_kernels();
  try {
    backend_of(table, {.precision = "fp16"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "kernels.precision = \"fp16\" is not known to back end 'reference'; use f32");
  }
}

}  // namespace
}  // namespace tutti
