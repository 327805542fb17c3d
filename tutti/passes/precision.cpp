// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/precision.h"

namespace tutti {

void choose_precision(Graph& graph, const Backend& backend) {
  for (Node& node : graph.nodes)
    if (node.settings.has("precision") && node.settings.text("precision") == "auto")
      node.settings.set("precision", backend.precision);
}

}  // namespace tutti
