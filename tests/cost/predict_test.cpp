// SPDX-License-Identifier: Apache-2.0
// Prediction on an imagined machine whose times are known. How near it comes to a real one is what
// tutti_bench --filter prediction measures.
#include "tutti/cost/predict.h"

#include "tutti/cost/calibrate.h"
#include "tutti/cost/node_class.h"
#include "tutti/cost/node_timer.h"
#include "tutti/cost/probes.h"
#include "tutti/cost/residency.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/relu.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti {
namespace {

// A microsecond to start and so much per unit, whatever the operator.
double known_seconds(const NodeClass& node) { return 1e-6 + 1e-11 * node.units; }

Calibration imagined(const std::vector<Graph>& graphs, const KernelTable& kernels) {
  Calibration calibration{.multiply_adds_per_second = 1e11,
                          .bytes_per_second = 1e10,
                          .fork_join_seconds = 1e-6,
                          .stream = {},
                          .classes = {}};
  for (const Graph& graph : graphs) {
    const NodeTimer timer(graph, kernels, 1);
    const Graph& compiled = timer.program().graph();
    for (std::size_t i = 0; i < compiled.nodes.size(); ++i) {
      if (compiled.nodes[i].op->view) continue;
      const NodeClass own = class_of(compiled, compiled.nodes[i],
                                     timer.program().implementation(static_cast<int>(i)));
      calibration.classes[own.name].push_back({own.at, own.units, known_seconds(own)});
    }
  }
  return calibration;
}

TEST(Predict, SizesBetweenThoseMeasured) {
  const KernelTable kernels = cpu_kernels();
  std::vector<Graph> measured;
  for (const std::int64_t n : {8, 24, 128})  // by the kernel that 50 are computed by
    for (const std::int64_t in : {16, 64, 256})
      for (const std::int64_t out : {16, 64, 256}) measured.push_back(product_probe(n, in, out));
  const Calibration calibration = imagined(measured, kernels);
  const NodeTimer timer(product_probe(50, 100, 100), kernels, 1);
  const Graph& graph = timer.program().graph();
  const StepPrediction prediction = predict_step(timer.program().compiled(), calibration);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeClass own =
        class_of(graph, graph.nodes[i], timer.program().implementation(static_cast<int>(i)));
    EXPECT_NEAR(prediction.seconds[i] / known_seconds(own), 1, 0.15) << own.name;
  }
  EXPECT_EQ(prediction.by_rates, 0);
  EXPECT_DOUBLE_EQ(prediction.total,
                   std::accumulate(prediction.seconds.begin(), prediction.seconds.end(), 0.0));
}

// K08: what was never measured goes by the peaks.
TEST(Predict, K08ThePlainModelFillsIn) {
  const KernelTable kernels = cpu_kernels();
  const Calibration calibration = imagined({}, kernels);
  const NodeTimer timer(product_probe(8, 16, 32), kernels, 1);
  const StepPrediction prediction = predict_step(timer.program().compiled(), calibration);
  EXPECT_EQ(prediction.by_rates, prediction.total);
  const Graph& graph = timer.program().graph();
  const Cost cost = cost_of_node(graph, graph.nodes[0]);
  EXPECT_DOUBLE_EQ(
      plain_seconds(graph, graph.nodes[0], calibration, {.part_of_peak = 0.25}),
      cost.multiply_adds / 0.25e11 + (cost.bytes_read + cost.bytes_written) / 1e10 + 1e-6);
}

// Two chains over the same memory: near and far uses cost what the stream says.
TEST(Residency, FarUsesAreFetched) {
  constexpr std::int64_t count = 1 << 18;  // 1 MiB each
  const std::vector<StreamSample> stream = {{1 << 20, 1e-11}, {16 << 20, 1e-11}, {32 << 20, 3e-11}};
  const auto seconds_of = [&](std::int64_t values) {
    Graph graph;
    for (std::int64_t k = 0; k < values; ++k) {
      const ValueId x = graph.add_value("x", {DType::f32, {count}}, {Base::inputs, k * 4 * count});
      const ValueId y = graph.add1(ops::relu, {x});
      graph.value(y).place = {Base::arena, 0};
    }
    return fetch_seconds(graph, stream);
  };
  const double bytes = 4 * count;
  EXPECT_NEAR(seconds_of(4)[0], 2e-11 * bytes, 1e-14 * bytes) << "input and output are near";
  EXPECT_NEAR(seconds_of(64)[0], (3e-11 + 1e-11) * bytes, 0.01 * 4e-11 * bytes)
      << "the input from afar, the output again and again";
}

TEST(Residency, WhatIsWrittenInPlaceIsFetchedOnce) {
  constexpr std::int64_t count = 1 << 18;
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {count}}, {Base::inputs, 0});
  graph.value(graph.add1(ops::relu, {x})).place = {Base::inputs, 0};
  EXPECT_NEAR(fetch_seconds(graph, {{1024, 1e-11}, {2048, 1e-11}})[0], 4 * count * 1e-11, 1e-15);
}

// A tebibyte is looked at in as few granules as a network that fits.
TEST(Residency, WhatNoMemoryHoldsIsPricedToo) {
  constexpr std::int64_t count = std::int64_t{1} << 38;
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {count}}, {Base::inputs, 0});
  graph.value(graph.add1(ops::relu, {x})).place = {Base::arena, 0};
  const double seconds = 8.0 * count * 3e-11;
  EXPECT_NEAR(fetch_seconds(graph, {{1024, 1e-11}, {2048, 3e-11}})[0], seconds, 1e-6 * seconds);
}

// Most kernels compute while their operands come; reorders and Winograd's transforms wait for them.
TEST(Predict, FetchingHidesBehindComputing) {
  const KernelTable kernels = cpu_kernels();
  const Graph probe = convolution_probe({.n = 2, .in = 16, .out = 16, .extent = 8});
  Calibration calibration = imagined({probe}, kernels);
  const NodeTimer timer(probe, kernels, 1);
  const Graph& graph = timer.program().graph();
  const StepPrediction near = predict_step(timer.program().compiled(), calibration);
  calibration.stream = {{1024, 1e-13}, {2048, 1e-10}};  // a little slower than anything computes
  const StepPrediction far = predict_step(timer.program().compiled(), calibration);
  const std::vector<double> fetch = fetch_seconds(graph, calibration.stream);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& implementation = timer.program().implementation(static_cast<int>(i));
    const bool waits = graph.nodes[i].op == &ops::reorder || implementation == "onednn-winograd";
    const double expected =
        waits ? near.seconds[i] + fetch[i] : std::max(near.seconds[i], fetch[i]);
    EXPECT_NEAR(far.seconds[i], expected, 0.01 * expected) << graph.nodes[i].op->name;
  }
}

TEST(Calibrate, ProbesCoverWhatNetworksAreMadeOf) {
  const KernelTable kernels = cpu_kernels();
  double last = -1;
  const Calibration calibration = calibrate(kernels, {.threads = 1,
                                                      .quick = true,
                                                      .progress =
                                                          [&](double part) {
                                                            EXPECT_GT(part, last);
                                                            last = part;
                                                          }})
                                      .calibration;
  EXPECT_GT(calibration.multiply_adds_per_second, 1e8);
  EXPECT_GT(calibration.bytes_per_second, 1e8);
  EXPECT_GT(calibration.fork_join_seconds, 0);
  for (const char* op :
       {"matmul/onednn/nt", "matmul/onednn/tn", "matmul/onednn/nn", "convolution/onednn",
        "convolution_grad_input/onednn", "convolution_grad_weight/onednn", "normalise/simd",
        "channel_sums/simd", "normalise_sums/simd", "normalise_grad/simd", "update/simd",
        "reorder/onednn", "relu_grad/simd"})
    EXPECT_TRUE(calibration.classes.contains(op)) << op;
  for (const auto& [name, samples] : calibration.classes)
    for (const TimeSample& sample : samples) {
      EXPECT_GT(sample.seconds, 0) << name;
      EXPECT_GT(sample.units, 0) << name;
    }
}

}  // namespace
}  // namespace tutti
