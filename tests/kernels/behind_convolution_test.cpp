// SPDX-License-Identifier: Apache-2.0
// Operators that take the layout which a convolution leaves: convolution → operator and all
// gradients, against the reference.
#include "tutti/kernels/backends.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/concatenate.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/gelu.h"
#include "tutti/ops/leaky_relu.h"
#include "tutti/ops/local_response.h"
#include "tutti/ops/parametric_relu.h"
#include "tutti/ops/sample_norm.h"
#include "tutti/ops/sigmoid.h"
#include "tutti/ops/slice.h"
#include "tutti/ops/softmax.h"
#include "tutti/ops/tanh.h"
#include "tutti/ops/upsample.h"
#include "tutti/passes/autodiff.h"

#include "contract/run_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tutti {
namespace {

using contract::Array;
using contract::Values;

// Float sums of a few hundred products in another order; oneDNN's activations are good to 1e-5.
constexpr double tolerance = 5e-5;

struct Network {
  Graph graph = {};
  Values feeds = {};
  std::vector<ValueId> inputs = {};  // gradients are taken in these

  ValueId feed(Shape shape) {
    const Type type{DType::f32, std::move(shape)};
    const ValueId id = graph.add_value("", type);
    feeds.insert_or_assign(id, contract::random_array(type, static_cast<std::uint64_t>(70 + id)));
    return id;
  }
  ValueId input(Shape shape) {
    inputs.push_back(feed(std::move(shape)));
    return inputs.back();
  }
  ValueId convolution(ValueId x, std::int64_t channels) {
    const Shape& shape = graph.shape(x);
    Shape kernel{channels, shape[1]};
    kernel.resize(shape.size(), 3);
    return graph.add1(ops::convolution, {x, input(kernel)}, {{"padding", Shape{1}}});
  }
  // Compares y and all gradients on one thread and on two; returns what ran.
  std::vector<std::string> compare(ValueId y) {
    const ValueId dy = feed(graph.shape(y));
    graph.outputs = gradients(graph, {y}, {dy}, inputs);
    graph.outputs.push_back(y);
    const Values expected = contract::evaluate(graph, feeds);
    std::vector<std::string> ran;
    for (const int threads : {1, 2}) {
      const contract::GraphRun found =
          contract::run_graph(graph, feeds, cpu_kernels(), threads, {"fuse"});
      for (std::size_t k = 0; k < graph.outputs.size(); ++k)
        EXPECT_LE(contract::difference(found.outputs[k], expected.at(graph.outputs[k])), tolerance)
            << "output " << k << " of\n"
            << print(graph);
      ran = found.implementations;
    }
    return ran;
  }
};

void expect_fast(const std::vector<std::string>& ran) {
  for (const std::string& step : ran) EXPECT_FALSE(step.ends_with(" reference")) << step;
}

const std::vector<Shape> images{{2, 3, 6, 5}, {3, 3, 7}, {1, 2, 4, 3, 3}};

// Builds convolution → `then` for several numbers of channels: some fill blocks, some don't.
void expect_equal(const std::function<ValueId(Network&, ValueId)>& then) {
  for (const Shape& shape : images)
    for (const std::int64_t channels : {6, 8, 16, 24}) {
      Network network;
      const ValueId x = network.input(shape);
      const ValueId y = network.convolution(x, channels);
      expect_fast(network.compare(network.convolution(then(network, y), channels)));
    }
}

template <const Op& op>
void expect_equal_pointwise(const Settings& settings = {}) {
  expect_equal([&](Network& network, ValueId y) { return network.graph.add1(op, {y}, settings); });
}

TEST(BehindConvolution, Activations) {
  expect_equal_pointwise<ops::sigmoid>();
  expect_equal_pointwise<ops::tanh>();
  expect_equal_pointwise<ops::gelu>();
  expect_equal_pointwise<ops::leaky_relu>({{"slope", 0.1}});
  expect_equal_pointwise<ops::softmax>({{"axis", std::int64_t{1}}});
}

TEST(BehindConvolution, Bias) {
  expect_equal([](Network& network, ValueId y) {
    return network.graph.add1(ops::bias, {y, network.input({network.graph.shape(y)[1]})});
  });
}

TEST(BehindConvolution, ParametricRelu) {
  for (const bool shared : {false, true})
    expect_equal([=](Network& network, ValueId y) {
      const std::int64_t slopes = shared ? 1 : network.graph.shape(y)[1];
      return network.graph.add1(ops::parametric_relu, {y, network.input({slopes})});
    });
}

TEST(BehindConvolution, SampleNorm) {
  for (const std::int64_t groups : {1, 2})
    for (const bool center : {true, false})
      expect_equal([=](Network& network, ValueId y) {
        const std::int64_t channels = network.graph.shape(y)[1];
        return network.graph.add1(ops::sample_norm,
                                  {y, network.input({channels}), network.input({channels})},
                                  {{"groups", groups}, {"center", center}});
      });
}

TEST(BehindConvolution, SampleNormWithAGainPerElement) {
  expect_equal([](Network& network, ValueId y) {
    const Shape& shape = network.graph.shape(y);
    return network.graph.add1(ops::sample_norm,
                              {y, network.input({elements(shape, 1, shape.size())})});
  });
}

TEST(BehindConvolution, LocalResponse) {
  expect_equal_pointwise<ops::local_response>({{"alpha", 0.1}});
}

TEST(BehindConvolution, Upsample) {
  for (const char* mode : {"nearest", "linear"})
    expect_equal_pointwise<ops::upsample>({{"mode", std::string(mode)}});
}

// Channels that fill blocks and such that don't, in every order; the gradient cuts them apart.
TEST(BehindConvolution, Concatenate) {
  for (const Shape& shape : images)
    for (const std::vector<std::int64_t>& parts : std::vector<std::vector<std::int64_t>>{
             {16, 32}, {8, 16, 8}, {6, 16}, {16, 6, 3}, {5, 7}, {32}, {24, 40}}) {
      Network network;
      const ValueId x = network.input(shape);
      std::vector<ValueId> joined;
      for (const std::int64_t channels : parts) joined.push_back(network.convolution(x, channels));
      const ValueId y = network.graph.add1(ops::concatenate, joined);
      expect_fast(network.compare(network.convolution(y, 16)));
    }
}

TEST(BehindConvolution, Slice) {
  for (const Shape& shape : images)
    for (const auto& [begin, end] : {std::pair{0, 16}, {16, 32}, {3, 20}, {8, 24}, {31, 32}}) {
      Network network;
      const ValueId y = network.convolution(network.input(shape), 32);
      const ValueId part = network.graph.add1(
          ops::slice, {y}, {{"begin", std::int64_t{begin}}, {"end", std::int64_t{end}}});
      expect_fast(network.compare(network.convolution(part, 16)));
    }
}

// GoogLeNet's and DenseNet's channels are whole blocks: no reorder stands between the convolutions
// and the concatenation.
TEST(BehindConvolution, ConcatenationKeepsTheLayoutOfConvolutions) {
  Network network;
  const ValueId x = network.input({2, 32, 8, 8});
  const ValueId a = network.convolution(x, 32), b = network.convolution(x, 64);
  const ValueId y = network.graph.add1(ops::concatenate, {a, b});
  const std::vector<std::string> ran = network.compare(network.convolution(y, 32));
  const auto at = std::find(ran.begin(), ran.end(), "concatenate copy");
  ASSERT_NE(at, ran.end());
  EXPECT_TRUE((at - 1)->starts_with("convolution")) << *(at - 1);
}

}  // namespace
}  // namespace tutti
