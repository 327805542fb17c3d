// SPDX-License-Identifier: Apache-2.0
#include "bench/time_operator.h"

namespace tutti::bench {

std::string threads_text(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

Work work_of(const Graph& graph, const Node& node) {
  const Cost cost =
      node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
  return {2 * cost.multiply_adds, cost.bytes_read + cost.bytes_written};
}

Work work_of(const contract::OneNode& node) {
  const Graph& graph = node.program().graph();
  return work_of(graph, graph.nodes[static_cast<std::size_t>(node.step())]);
}

Spread time_operator(contract::OneNode& node, int repeats, double round_ms) {
  const StepState step{.step = 1, .key = 1, .rate = 1e-6};
  const auto index = static_cast<std::size_t>(node.step());
  std::vector<double> samples;
  const double started = now_ms();
  for (int k = 0; k < repeats || now_ms() - started < round_ms; ++k) {
    Profile profile;
    node.run(step, &profile);
    samples.push_back(profile.seconds[index] * 1e3);
  }
  return spread_of(std::move(samples));
}

}  // namespace tutti::bench
