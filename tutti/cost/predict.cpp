// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/predict.h"

#include "tutti/cost/node_class.h"
#include "tutti/cost/residency.h"
#include "tutti/cost/surface.h"
#include "tutti/graph/cost.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tutti {
namespace {

// Seconds of a node by the samples of its class: a start, and then so much per unit, which is
// estimated in logarithms.
double seconds_by(const std::vector<TimeSample>& samples, const NodeClass& node, double start) {
  std::vector<SurfacePoint> points;
  double least = std::numeric_limits<double>::infinity();
  for (const TimeSample& sample : samples) {
    const double own = std::max(sample.seconds - start, sample.seconds / 2);
    points.push_back({sample.at, std::log2(own / sample.units)});
    least = std::min(least, sample.seconds);
  }
  const double own = node.units * std::exp2(estimate(points, node.at));
  // A node that is smaller than all samples still takes as long as the quickest.
  return std::max(least, own + std::min(start, own));
}

// Seconds by the node's own class, else by the fastest other kernel of the operator: whoever chose
// this kernel found it no slower. Nothing when the operator was not measured.
std::optional<double> class_seconds(const NodeClass& node, const Calibration& calibration) {
  const double start = calibration.fork_join_seconds;
  const auto fits = [&](const std::vector<TimeSample>& samples) {
    return !samples.empty() && samples[0].at.size() == node.at.size();
  };
  const auto own = calibration.classes.find(node.name);
  if (own != calibration.classes.end() && fits(own->second))
    return seconds_by(own->second, node, start);
  const std::string op = node.name.substr(0, node.name.find('/') + 1);
  std::optional<double> least;
  for (const auto& [name, samples] : calibration.classes)
    if (name.starts_with(op) && fits(samples))
      least = std::min(least.value_or(std::numeric_limits<double>::infinity()),
                       seconds_by(samples, node, start));
  return least;
}

// Whether the kernel goes over its operands before it computes: it reorders, packs or transforms.
bool prepares_operands(const Node& node, const std::string& implementation) {
  const bool convolution = node.op->name.starts_with("convolution");
  return node.op == &ops::reorder ||
         (node.op == &ops::matmul && implementation != "onednn-turned") ||
         (convolution && implementation != "onednn");
}

// Most kernels compute while their operands are fetched. For the others, the time is added by which
// fetching takes longer than from the nearest cache.
double with_fetch(double seconds, double fetch, double nearest_fetch, bool passes) {
  return passes ? seconds + std::max(fetch - nearest_fetch, 0.0) : std::max(seconds, fetch);
}

double nearest_seconds_per_byte(const std::vector<StreamSample>& stream) {
  double least = stream.empty() ? 0 : stream[0].seconds_per_byte;
  for (const StreamSample& sample : stream) least = std::min(least, sample.seconds_per_byte);
  return least;
}

}  // namespace

double plain_seconds(const Graph& graph, const Node& node, const Calibration& calibration,
                     const PlainModel& model) {
  const Cost cost = cost_of_node(graph, node);
  return cost.multiply_adds / (calibration.multiply_adds_per_second * model.part_of_peak) +
         (cost.bytes_read + cost.bytes_written) / calibration.bytes_per_second +
         calibration.fork_join_seconds;
}

StepPrediction predict_step(const CompiledStep& step, const Calibration& calibration) {
  const Graph& graph = step.graph;
  const std::vector<double> fetch = fetch_seconds(graph, calibration.stream);
  const double nearest = nearest_seconds_per_byte(calibration.stream);
  StepPrediction prediction{.seconds = std::vector<double>(graph.nodes.size())};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op->view || is_message(node)) continue;
    const std::string& implementation = step.implementations[i];
    const std::optional<double> measured =
        class_seconds(class_of(graph, node, implementation), calibration);
    double& seconds = prediction.seconds[i];
    seconds =
        with_fetch(measured.value_or(plain_seconds(graph, node, calibration)), fetch[i],
                   nearest * touched_bytes(graph, node), prepares_operands(node, implementation));
    prediction.total += seconds;
    if (!measured) prediction.by_rates += seconds;
  }
  return prediction;
}

std::function<double(const Graph&, const Node&)> node_seconds(const KernelTable& kernels,
                                                              const Calibration& calibration) {
  return [&kernels, &calibration](const Graph& graph, const Node& node) -> double {
    if (node.op->view) return 0;
    const Implementation* chosen = kernels.find(graph, node);
    if (chosen == nullptr) return 0;
    return class_seconds(class_of(graph, node, chosen->name), calibration)
        .value_or(plain_seconds(graph, node, calibration));
  };
}

}  // namespace tutti
