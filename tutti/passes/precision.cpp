// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/precision.h"

#include "tutti/graph/op.h"
#include "tutti/graph/samples.h"

namespace tutti {
namespace {

// What has an extent for samples may be stored in 16 bits. What sums over them (gradients of
// weights, statistics, the loss) has none; nor has what an operator without notation makes.
void mark_activations(Graph& graph) {
  const SampleFlow flow = follow_samples(graph);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (flow.of(id).kind == SampleShare::split) {
        Value& value = graph.value(id);
        value.activation = value.type.dtype == DType::f32 && value.type.shape.size() > 1;
      }
}

}  // namespace

void choose_precision(Graph& graph, const Backend& backend) {
  if (backend.stored) mark_activations(graph);
  const std::string multiplied = backend.precision == "bf16" ? "bf16" : "f32";
  for (Node& node : graph.nodes)
    if (node.settings.has("precision") && node.settings.text("precision") == "auto")
      node.settings.set("precision", multiplied);
}

}  // namespace tutti
