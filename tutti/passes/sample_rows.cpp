// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/sample_rows.h"

#include "tutti/core/error.h"
#include "tutti/graph/op.h"
#include "tutti/graph/samples.h"

#include <algorithm>

namespace tutti {

void count_sample_rows(Graph& graph) {
  if (graph.batch.empty() || std::none_of(graph.nodes.begin(), graph.nodes.end(),
                                          [](const Node& node) { return node.op->random; }))
    return;
  const SampleFlow flow = follow_samples(graph);
  const std::int64_t samples = graph.shape(graph.batch[0])[0];
  for (Node& node : graph.nodes) {
    if (!node.op->random) continue;
    const SampleShare& share = flow.of(node.outputs[0]);
    std::int64_t rows = 0;
    if (share.kind == SampleShare::split) {
      const std::int64_t extent = graph.shape(node.outputs[0])[share.dimension];
      check(share.dimension == 0, "random operators are split along the first dimension only");
      if (extent % samples != 0)
        throw Error(
            "[{}] of '{}' draws for {} rows of {} samples, expected as many for each sample",
            node.op->name, node.name, extent, samples);
      rows = extent / samples;
    }
    node.settings.set("sample_rows", rows);
  }
}

}  // namespace tutti
