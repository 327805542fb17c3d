// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/selection.h"

#include <algorithm>

namespace tutti {

Backend backend_of(const KernelTable& table, const Selection& selection) {
  Backend backend = backend_of(table);
  backend.variant = [&table, selection, by_rule = backend.variant](
                        const Graph& graph, const Node& node) -> std::string {
    const auto able = table.supporting(graph, node);
    const auto is_wanted = [&](const Implementation* one) {
      return one->name == selection.convolution;
    };
    if (std::any_of(able.begin(), able.end(), is_wanted)) return selection.convolution;
    return by_rule(graph, node);
  };
  return backend;
}

}  // namespace tutti
