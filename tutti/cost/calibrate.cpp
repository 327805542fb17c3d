// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/calibrate.h"

#include "tutti/cost/node_class.h"
#include "tutti/cost/node_timer.h"
#include "tutti/cost/probes.h"
#include "tutti/cost/residency.h"
#include "tutti/graph/cost.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr int runs = 5;
constexpr double enough_seconds = 0.01;  // of one probe

// A copy whose blocks all together have from 64 KiB to 256 MiB.
std::vector<StreamSample> measure_stream(const KernelTable& kernels, int threads) {
  std::vector<StreamSample> stream;
  for (std::int64_t bytes = 64 << 10; bytes <= std::int64_t{256} << 20; bytes *= 2) {
    NodeTimer timer(copy_probe(bytes), kernels, threads);
    const double seconds = timer.measure(runs, enough_seconds)[0];
    stream.push_back({static_cast<double>(bytes), seconds / static_cast<double>(bytes)});
  }
  return stream;
}

double measure_fork_join(const KernelTable& kernels, int threads) {
  NodeTimer timer(copy_probe(1024), kernels, threads);
  return timer.measure(runs, enough_seconds)[0];
}

// A sample for each node that computes.
void add_samples(Calibration& calibration, NodeTimer& timer) {
  const std::vector<double> seconds = timer.measure(runs, enough_seconds);
  const Graph& graph = timer.program().graph();
  const std::vector<double> fetch = fetch_seconds(graph, calibration.stream);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op->view) continue;
    NodeClass own = class_of(graph, node, timer.program().implementation(static_cast<int>(i)));
    if (own.units == 0) continue;
    // Samples are of data in the caches; most probes fit.
    const double cached = std::max(seconds[i] - fetch[i], 0.5 * seconds[i]);
    calibration.classes[own.name].push_back({std::move(own.at), own.units, cached});
    const double products = cost_of_node(graph, node).multiply_adds;
    calibration.multiply_adds_per_second =
        std::max(calibration.multiply_adds_per_second, products / seconds[i]);
  }
}

}  // namespace

Calibration calibrate(const KernelTable& kernels, const CalibrateOptions& options) {
  if (kernels.prepare != nullptr) kernels.prepare(options.threads, 0, 1);
  Calibration calibration;
  calibration.fork_join_seconds = measure_fork_join(kernels, options.threads);
  calibration.stream = measure_stream(kernels, options.threads);
  calibration.bytes_per_second = 1 / calibration.stream.back().seconds_per_byte;
  const std::vector<Graph> all = probes();
  const std::size_t stride = options.quick ? 8 : 1;
  for (std::size_t k = 0; k < all.size(); k += stride) {
    if (options.progress)
      options.progress(static_cast<double>(k) / static_cast<double>(all.size()));
    NodeTimer timer(all[k], kernels, options.threads);
    add_samples(calibration, timer);
  }
  return calibration;
}

}  // namespace tutti
