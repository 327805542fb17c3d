// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/probes.h"

#include "tutti/ops/accuracy.h"
#include "tutti/ops/add.h"
#include "tutti/ops/average_pool.h"
#include "tutti/ops/bias.h"
#include "tutti/ops/channel_sums.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/cross_entropy.h"
#include "tutti/ops/matmul.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/normalise.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/update.h"
#include "tutti/passes/autodiff.h"

#include <algorithm>
#include <string_view>

namespace tutti {
namespace {

using Integers = std::vector<std::int64_t>;

ValueId input(Graph& graph, Shape shape, DType dtype = DType::f32) {
  return graph.add_value("input", {dtype, std::move(shape)});
}

// Adds the gradients of y, and lists the outputs that must be computed.
void add_gradients(Graph& graph, ValueId y, const std::vector<ValueId>& wrt) {
  const ValueId seed = input(graph, graph.shape(y));
  for (const ValueId id : gradients(graph, {y}, {seed}, wrt))
    if (id != no_value) graph.outputs.push_back(id);
  graph.outputs.push_back(y);
}

// Batch normalisation, as a layer would add it.
ValueId add_normalisation(Graph& graph, ValueId x, std::vector<ValueId>& parameters) {
  const std::int64_t channels = graph.shape(x)[1];
  const ValueId gamma = input(graph, {channels}), beta = input(graph, {channels});
  const ValueId sums = graph.add1(ops::channel_sums, {x});
  const auto statistics = graph.add(ops::channel_statistics, {sums});
  const ValueId mean = input(graph, {1, channels}), variance = input(graph, {1, channels});
  for (const ValueId id :
       graph.add(ops::running_average, {mean, variance, statistics[0], statistics[1], sums}))
    graph.outputs.push_back(id);
  parameters.insert(parameters.end(), {gamma, beta});
  return graph.add1(ops::normalise, {x, statistics[0], statistics[1], gamma, beta});
}

// Adds the probe with few samples and with four times as many: enough that overhead does not hide
// the work, but not long. Cheap convolutions are also timed with fewer samples, so that overhead
// shows; of the others, those whose kernels are transformed once for all samples also with more, so
// that the transform no longer shows.
void add_convolution(std::vector<Graph>& all, ConvolutionProbe probe) {
  const auto square = [](std::int64_t extent) { return static_cast<double>(extent * extent); };
  const double multiply_adds = square(probe.extent) / square(probe.stride) * square(probe.kernel) *
                               static_cast<double>(probe.in * probe.out) /
                               static_cast<double>(probe.groups);
  constexpr double wanted = 20e6;
  constexpr std::int64_t most = 32;
  const std::int64_t few =
      std::clamp(static_cast<std::int64_t>(wanted / multiply_adds), std::int64_t{1}, most);
  Integers samples = {few, 4 * few};
  const bool transforms = probe.kernel == 3 && probe.stride == 1 && probe.groups == 1 &&
                          probe.variant == std::string_view("auto");
  if (few == most)
    samples.push_back(few / 4);
  else if (transforms)
    samples.push_back(std::min(16 * few, 4 * most));
  for (const std::int64_t n : samples) {
    probe.n = n;
    all.push_back(convolution_probe(probe));
  }
}

// Convolutions of 3×3, by the kernel that the table chooses and by the plain one.
void add_square_convolutions(std::vector<Graph>& all) {
  for (const std::int64_t channels : {16, 32, 64, 128, 256, 512})
    for (const std::int64_t extent : {112, 56, 32, 28, 16, 14, 13, 8, 7}) {
      if (channels * extent > 64 * 112 || channels * extent < 16 * 14) continue;
      for (const char* variant : {"auto", "onednn"})
        add_convolution(all,
                        {.in = channels, .out = channels, .extent = extent, .variant = variant});
    }
  for (const std::int64_t extent : {28, 14}) {
    add_convolution(all, {.in = 128, .out = 32, .extent = extent});
    add_convolution(all, {.in = 32, .out = 128, .extent = extent});
  }
}

void add_pointwise_convolutions(std::vector<Graph>& all) {
  for (const std::int64_t in : {16, 64, 256, 1024})
    for (const std::int64_t out : {16, 64, 256, 1024})
      for (const std::int64_t extent : {56, 28, 14, 7}) {
        if (std::max(in, out) * extent > 256 * 56 || std::min(in, out) * extent < 16 * 28) continue;
        add_convolution(all, {.in = in, .out = out, .extent = extent, .kernel = 1});
      }
}

void add_strided_convolutions(std::vector<Graph>& all) {
  for (const std::int64_t in : {16, 64, 256, 512})
    for (const std::int64_t extent : {56, 28, 14}) {
      if (in * extent > 64 * 56 * 4 || in * extent < 16 * 28) continue;
      for (const std::int64_t kernel : {1, 3})
        add_convolution(all,
                        {.in = in, .out = 2 * in, .extent = extent, .kernel = kernel, .stride = 2});
    }
}

// Convolutions of each channel by itself.
void add_depthwise_convolutions(std::vector<Graph>& all) {
  for (const std::int64_t channels : {32, 128, 512})
    for (const std::int64_t extent : {112, 28, 14})
      for (const std::int64_t stride : {1, 2}) {
        if (channels * extent > 32 * 112 * 2) continue;
        add_convolution(all, {.in = channels,
                              .out = channels,
                              .extent = extent,
                              .stride = stride,
                              .groups = channels});
      }
}

// First layers, and large windows.
void add_other_convolutions(std::vector<Graph>& all) {
  for (const std::int64_t in : {1, 3})
    for (const std::int64_t out : {8, 16, 64}) {
      add_convolution(all, {.in = in, .out = out, .extent = 32});
      add_convolution(all, {.in = in, .out = out, .extent = 28, .kernel = 5, .normalised = false});
    }
  add_convolution(all, {.in = 3, .out = 32, .extent = 128, .stride = 2});
  add_convolution(all, {.in = 3, .out = 64, .extent = 128, .kernel = 7, .stride = 2});
  add_convolution(all, {.in = 3, .out = 64, .extent = 192, .kernel = 7, .stride = 2});
  add_convolution(all, {.in = 3, .out = 64, .extent = 192, .kernel = 11, .stride = 4});
  for (const std::int64_t in : {4, 8, 16, 64})
    add_convolution(all,
                    {.in = in, .out = 4 * in, .extent = 14, .kernel = 5, .normalised = in >= 16});
}

Graph pool_probe(std::int64_t n, std::int64_t channels, std::int64_t extent, const Op& pool,
                 const Settings& settings) {
  // A convolution comes before the pool, so that the image lies as it would in a network.
  Graph graph;
  const ValueId x = input(graph, {n, 16, extent, extent});
  const ValueId w = input(graph, {channels, 16, 1, 1});
  const ValueId image = graph.add1(ops::relu, {graph.add1(ops::convolution, {x, w})});
  add_gradients(graph, graph.add1(ops::relu, {graph.add(pool, {image}, settings)[0]}), {w});
  return graph;
}

// A residual addition behind a normalisation, with its gradients.
Graph residual_probe(std::int64_t n, std::int64_t channels, std::int64_t extent) {
  Graph graph;
  std::vector<ValueId> parameters;
  const ValueId x = input(graph, {n, channels, extent, extent});
  const ValueId first = input(graph, {channels, channels, 1, 1});
  const ValueId second = input(graph, {channels, channels, 1, 1});
  parameters = {first, second};
  const ValueId a = graph.add1(
      ops::relu, {add_normalisation(graph, graph.add1(ops::convolution, {x, first}), parameters)});
  const ValueId b = add_normalisation(graph, graph.add1(ops::convolution, {a, second}), parameters);
  const ValueId y = graph.add1(ops::relu, {graph.add1(ops::add, {b, a})});
  add_gradients(graph, y, parameters);
  return graph;
}

void add_pools(std::vector<Graph>& all) {
  for (const std::int64_t channels : {5, 20, 64})
    for (const std::int64_t extent : {56, 14})
      for (const std::int64_t n : {2, 16, 64}) {
        all.push_back(pool_probe(n, channels, extent, ops::max_pool, {{"kernel", Integers{2}}}));
        all.push_back(pool_probe(
            n, channels, extent, ops::max_pool,
            {{"kernel", Integers{3}}, {"stride", Integers{2}}, {"padding", Integers{1}}}));
        all.push_back(pool_probe(
            n, channels, extent, ops::max_pool,
            {{"kernel", Integers{3}}, {"stride", Integers{1}}, {"padding", Integers{1}}}));
        all.push_back(
            pool_probe(n, channels, extent, ops::average_pool, {{"kernel", Integers{2}}}));
        all.push_back(pool_probe(n, channels, extent / 2, ops::average_pool, {{"global", true}}));
      }
}

Graph update_probe(std::int64_t count, const char* rule, std::vector<double> hyper, int states) {
  Graph graph;
  std::vector<ValueId> in;
  for (int k = 0; k < 2 + states; ++k) in.push_back(input(graph, {count}));
  graph.outputs = graph.add(ops::update, in, {{"rule", rule}, {"hyper", std::move(hyper)}});
  return graph;
}

Graph loss_probe(std::int64_t n, std::int64_t classes) {
  Graph graph;
  const ValueId logits = input(graph, {n, classes}), weights = input(graph, {n});
  const ValueId labels = input(graph, {n}, DType::i32);
  const ValueId loss = graph.add(ops::softmax_cross_entropy, {logits, labels, weights})[0];
  graph.outputs.push_back(graph.add1(ops::accuracy, {logits, labels, weights}));
  add_gradients(graph, loss, {logits});
  return graph;
}

}  // namespace

Graph copy_probe(std::int64_t bytes) {
  Graph graph;
  graph.outputs = graph.add(ops::copy, {input(graph, {bytes / 8})});
  return graph;
}

Graph product_probe(std::int64_t n, std::int64_t in, std::int64_t out) {
  Graph graph;
  const ValueId x = input(graph, {n, in}), w = input(graph, {out, in}), b = input(graph, {out});
  const ValueId y = graph.add1(ops::matmul, {x, w}, {{"transpose_b", true}});
  add_gradients(graph, graph.add1(ops::relu, {graph.add1(ops::bias, {y, b})}), {x, w, b});
  return graph;
}

Graph convolution_probe(const ConvolutionProbe& probe) {
  Graph graph;
  std::vector<ValueId> parameters;
  const ValueId x = input(graph, {probe.n, probe.in, probe.extent, probe.extent});
  const ValueId w = input(graph, {probe.out, probe.in / probe.groups, probe.kernel, probe.kernel});
  ValueId y = graph.add1(ops::convolution, {x, w},
                         {{"padding", Integers{probe.kernel / 2}},
                          {"stride", Integers{probe.stride}},
                          {"groups", probe.groups},
                          {"variant", probe.variant}});
  parameters.push_back(w);
  if (probe.in > 3) parameters.push_back(x);
  if (probe.normalised) {
    y = add_normalisation(graph, y, parameters);
  } else {
    parameters.push_back(input(graph, {probe.out}));
    y = graph.add1(ops::bias, {y, parameters.back()});
  }
  add_gradients(graph, graph.add1(ops::relu, {y}), parameters);
  return graph;
}

std::vector<Graph> probes() {
  std::vector<Graph> all;
  for (const std::int64_t n : {1, 8, 24, 32, 64, 128, 512})
    for (const std::int64_t in : {8, 64, 256, 1024})
      for (const std::int64_t out : {8, 64, 256, 1024}) all.push_back(product_probe(n, in, out));
  add_square_convolutions(all);
  add_pointwise_convolutions(all);
  add_strided_convolutions(all);
  add_depthwise_convolutions(all);
  add_other_convolutions(all);
  for (const std::int64_t channels : {16, 64, 256})
    for (const std::int64_t extent : {28, 7})
      for (const std::int64_t n : {1, 8, 32}) all.push_back(residual_probe(n, channels, extent));
  add_pools(all);
  for (std::int64_t count = 16; count <= (std::int64_t{1} << 20); count *= 8) {
    all.push_back(update_probe(count, "sgd", {}, 0));
    all.push_back(update_probe(count, "momentum", {0.9, 0}, 1));
    all.push_back(update_probe(count, "adam", {0.9, 0.999, 1e-8}, 2));
  }
  for (const std::int64_t n : {8, 64, 256})
    for (const std::int64_t classes : {10, 100, 1000}) all.push_back(loss_probe(n, classes));
  return all;
}

}  // namespace tutti
