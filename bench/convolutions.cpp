// SPDX-License-Identifier: Apache-2.0
#include "bench/convolutions.h"

#include "tutti/kernels/backends.h"
#include "tutti/kernels/selection.h"
#include "tutti/kernels/trial.h"
#include "tutti/ops/convolution.h"

#include "bench/round_trip.h"
#include "bench/time_operator.h"

#include <memory>

namespace tutti::bench {
namespace {

using contract::Array;

// Winograd with large tiles loses three digits; relative to the largest element.
constexpr double tolerance = 1e-3;
// A variant that is so many times slower in the first round is not asked again.
constexpr double hopeless = 4;

struct Size {
  std::int64_t images, c, o, side, kernel, stride = 1;
  bool quick = false;
};

constexpr Size sizes[] = {
    {16, 64, 256, 56, 1},  {16, 512, 512, 8, 1, 1, true}, {8, 1, 16, 256, 3},
    {8, 3, 64, 64, 3},     {32, 16, 16, 32, 3},           {8, 64, 64, 56, 3, 1, true},
    {16, 256, 256, 14, 3}, {16, 512, 512, 8, 3},          {16, 64, 128, 56, 3, 2},
    {64, 1, 6, 28, 5},     {8, 64, 64, 32, 5, 1, true},   {4, 3, 64, 224, 7, 2},
    {4, 64, 64, 64, 7},    {8, 64, 64, 64, 9, 1, true},   {8, 64, 64, 64, 11},
    {2, 16, 16, 128, 15},  {8, 64, 64, 64, 15},           {2, 16, 16, 256, 21},
    {4, 64, 64, 64, 31}};

struct Timed {
  std::string name;
  std::unique_ptr<Trial> trial;
  std::vector<double> ms = {};
};

// What differs from the definition ends the bench; large ones are compared with oneDNN's.
void check_results(const std::string& name, const Graph& graph, const Node& node,
                   const KernelTable& table, int threads) {
  std::vector<Array> in, expected;
  for (const Type& type : graph.types(node.inputs))
    in.push_back(contract::random_array(type, 10 + in.size()));
  for (const Implementation* one : table.supporting(graph, node)) {
    Settings settings = node.settings;
    settings.set("variant", one->name);
    contract::OneNode run(*node.op, settings, in, table, threads);
    run.run();
    if (expected.empty()) expected = run.outputs();
    const double error = contract::difference(run.outputs()[0], expected[0]);
    if (!(error <= tolerance))
      throw Error("{}: {} differs by {:.2g}, expected at most {:.2g}", name, one->name, error,
                  tolerance);
  }
}

void bench_node(const Options& options, const Peaks& peaks, Records& records, const Graph& graph,
                const Node& node, const std::string& name, int threads) {
  const KernelTable table = cpu_kernels();
  table.prepare(threads, 0, 1);
  check_results(name, graph, node, table, threads);
  // Taking turns, so that all see the same machine.
  const NodeLayouts neighbours = neighbour_layouts(table, graph, node);
  std::vector<Timed> all;
  for (const Implementation* one : table.supporting(graph, node))
    all.push_back({one->name, std::make_unique<Trial>(table, graph, node, *one, neighbours)});
  double best = 1e30;
  for (int round = 0; round < (options.quick ? 3 : 5); ++round)
    for (Timed& one : all) {
      if (round > 0 && one.ms[0] > hopeless * best) continue;
      one.ms.push_back(one.trial->measure_ms({.threads = threads}, hopeless * best));
      best = std::min(best, one.ms.back());
    }
  const VariantChoice choice =
      choose_variant(table, {.mode = Selection::Mode::measure, .threads = threads}, graph, node);
  const Timed* fastest = nullptr;
  Spread fastest_ms, chosen_ms;
  for (const Timed& one : all) {
    const Spread ms = spread_of(one.ms);
    records.time(fmt::format("{}/{}", name, one.name), ms, work_of(graph, node), peaks.at(threads),
                 round_trip_ns(), {{"scratch_bytes", one.trial->scratch_bytes()}});
    if (fastest == nullptr || ms.median < fastest_ms.median) fastest = &one, fastest_ms = ms;
    if (one.name == choice.variant) chosen_ms = ms;
  }
  records.ratio(fmt::format("{}/auto = {}, best = {}", name, choice.variant, fastest->name),
                {chosen_ms.median / fastest_ms.median, chosen_ms.low / fastest_ms.median,
                 chosen_ms.high / fastest_ms.median},
                round_trip_ns(), {{"rule", choice.rule}});
}

}  // namespace

void bench_convolutions(const Options& options, const Peaks& peaks, Records& records) {
  if (!options.filter.starts_with("variants")) return;
  for (const Size& size : sizes) {
    if (options.quick && !size.quick) continue;
    Graph graph;
    const ValueId x =
        graph.add_value("x", {DType::f32, {size.images, size.c, size.side, size.side}});
    const ValueId w =
        graph.add_value("w", {DType::f32, {size.o, size.c, size.kernel, size.kernel}});
    const Settings settings = {{"stride", Shape{size.stride}}, {"padding", Shape{size.kernel / 2}}};
    graph.add1(ops::convolution, {x, w}, settings);
    const Node forward = graph.nodes[0];
    const ValueId dy = graph.add_value("dy", graph.type(forward.outputs[0]));
    ops::convolution.gradient(graph, forward, {dy});
    for (const Node& node : graph.nodes) {
      if (options.quick && node.op != &ops::convolution) continue;
      for (const int threads : options.threads) {
        const std::string name =
            fmt::format("variants/{} {} {}/{}", node.op->name, to_string(graph.shape(x)),
                        to_string(graph.shape(w)), threads_text(threads));
        if (options.wants(name)) bench_node(options, peaks, records, graph, node, name, threads);
      }
    }
  }
}

}  // namespace tutti::bench
