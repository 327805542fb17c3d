// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/precision.h"

#include "tutti/graph/op.h"
#include "tutti/graph/samples.h"

namespace tutti {
namespace {

// Values with a dimension of samples may be stored in 16 bits. Sums over samples (gradients of
// weights, statistics, the loss) have no such dimension; neither have the outputs of operators
// without index notation.
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
