// SPDX-License-Identifier: Apache-2.0
// How long a step takes, predicted node by node from what was measured of the machine: the time of
// the node's class at its sizes, or more where its operands are no longer in the caches.
#pragma once

#include "tutti/cost/machine.h"
#include "tutti/exec/compiled_step.h"

#include <functional>
#include <vector>

namespace tutti {

struct StepPrediction {
  std::vector<double> seconds;  // per node; messages: 0
  double total = 0;
  double by_rates = 0;  // part of `total` that was never measured: plain_seconds()
};

StepPrediction predict_step(const CompiledStep& step, const Calibration& calibration);

// Paleo's model (K08) for what was not measured: flops / (peak · part of the peak) + bytes /
// bandwidth.
struct PlainModel {
  double part_of_peak = 0.5;
};
double plain_seconds(const Graph& graph, const Node& node, const Calibration& calibration,
                     const PlainModel& model = {});

// The time of a node before layouts and memory are planned, by the kernel that the table chooses.
// Both must outlive the result.
std::function<double(const Graph&, const Node&)> node_seconds(const KernelTable& kernels,
                                                              const Calibration& calibration);

}  // namespace tutti
