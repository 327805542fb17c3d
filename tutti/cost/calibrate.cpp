// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/calibrate.h"

#include "tutti/cost/node_class.h"
#include "tutti/cost/node_timer.h"
#include "tutti/cost/probes.h"
#include "tutti/ops/matmul.h"

#include <algorithm>

namespace tutti {
namespace {

// Other programs on the machine come and go: the least time in a round is free of short
// disturbances, and the median of the rounds is what memory shared with others usually gives.
constexpr int rounds = 3;
constexpr int runs = 2;
constexpr double enough_seconds = 0.01;  // at least, of one probe in one round

using Seconds = std::vector<double>;

// The median over rounds, number by number.
Seconds median_of(const std::vector<Seconds>& of_rounds) {
  Seconds medians(of_rounds[0].size());
  Seconds one(of_rounds.size());
  for (std::size_t i = 0; i < medians.size(); ++i) {
    for (std::size_t round = 0; round < one.size(); ++round) one[round] = of_rounds[round][i];
    std::sort(one.begin(), one.end());
    medians[i] = one[one.size() / 2];
  }
  return medians;
}

// The sizes of the copies that are timed, read and written bytes together: 64 KiB to 256 MiB.
std::vector<std::int64_t> stream_bytes() {
  std::vector<std::int64_t> all;
  for (std::int64_t bytes = 64 << 10; bytes <= std::int64_t{256} << 20; bytes *= 2)
    all.push_back(bytes);
  return all;
}

Seconds measure_stream(const KernelTable& kernels, int threads) {
  Seconds seconds;
  for (const std::int64_t bytes : stream_bytes())
    seconds.push_back(
        NodeTimer(copy_probe(bytes), kernels, threads).measure(runs, enough_seconds)[0]);
  return seconds;
}

double measure_fork_join(const KernelTable& kernels, int threads) {
  NodeTimer timer(copy_probe(1024), kernels, threads);
  return timer.measure(runs, enough_seconds)[0];
}

std::vector<Graph> every_eighth(const std::vector<Graph>& all) {
  std::vector<Graph> some;
  for (std::size_t k = 0; k < all.size(); k += 8) some.push_back(all[k]);
  return some;
}

// Adds a sample for each node that computes.
void add_samples(Calibration& calibration, const Program& program, const Seconds& seconds) {
  const Graph& graph = program.graph();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op->view) continue;
    NodeClass own = class_of(graph, node, program.implementation(static_cast<int>(i)));
    if (own.units == 0) continue;
    if (node.op == &ops::matmul)
      calibration.multiply_adds_per_second =
          std::max(calibration.multiply_adds_per_second, own.units / seconds[i]);
    calibration.classes[own.name].push_back({std::move(own.at), own.units, seconds[i]});
  }
}

}  // namespace

Calibrated calibrate(const KernelTable& kernels, const CalibrateOptions& options) {
  if (kernels.prepare != nullptr) kernels.prepare(options.threads, 0, 1);
  Calibrated result;
  Calibration& calibration = result.calibration;
  calibration.fork_join_seconds = measure_fork_join(kernels, options.threads);
  const std::vector<Graph> all = options.quick ? every_eighth(probes()) : probes();
  const int last = options.quick ? 0 : rounds - 1;
  std::vector<Seconds> streams;
  std::vector<std::vector<Seconds>> measured(all.size());
  std::vector<bool> disturbed(all.size(), true);
  for (int round = 0; round <= last; ++round) {
    streams.push_back(measure_stream(kernels, options.threads));
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (options.progress)
        options.progress((round + static_cast<double>(k) / static_cast<double>(all.size())) /
                         (last + 1));
      NodeTimer timer(all[k], kernels, options.threads);
      measured[k].push_back(timer.measure(runs, enough_seconds));
      disturbed[k] = disturbed[k] && timer.disturbed();
      if (round == last) add_samples(calibration, timer.program(), median_of(measured[k]));
    }
  }
  const Seconds stream = median_of(streams);
  for (std::size_t k = 0; k < stream.size(); ++k) {
    const auto bytes = static_cast<double>(stream_bytes()[k]);
    calibration.stream.push_back({bytes, stream[k] / bytes});
  }
  calibration.bytes_per_second = 1 / calibration.stream.back().seconds_per_byte;
  result.disturbed = static_cast<double>(std::count(disturbed.begin(), disturbed.end(), true)) /
                     static_cast<double>(all.size());
  return result;
}

}  // namespace tutti
