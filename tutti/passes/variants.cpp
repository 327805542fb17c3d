// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/variants.h"

namespace tutti {

void choose_variants(Graph& graph, const Backend& backend) {
  for (Node& node : graph.nodes)
    if (node.settings.has("variant")) node.settings.set("variant", backend.variant(graph, node));
}

}  // namespace tutti
