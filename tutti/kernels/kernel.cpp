// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/kernel.h"

#include "tutti/kernels/reference/reference.h"

#include <algorithm>

namespace tutti {

const Implementation* KernelTable::find(const Graph& graph, const Node& node) const {
  if (const auto found = by_op.find(node.op->name); found != by_op.end())
    for (const Implementation& implementation : found->second)
      if (implementation.supports(graph, node)) return &implementation;
  return reference_for(*node.op);
}

const Implementation& KernelTable::choose(const Graph& graph, const Node& node) const {
  if (const Implementation* found = find(graph, node); found != nullptr) return *found;
  throw Error("[{}] has no kernel on back end '{}'", node.op->name, name);
}

KernelTable kernels_named(const std::string& name) {
  if (name == "cpu") return cpu_kernels();
  if (name == "reference") return reference_kernels();
  throw Error("unknown back end '{}'; expected one of: cpu, reference", name);
}

Backend backend_of(const KernelTable& table) {
  Backend backend;
  backend.name = table.name;
  backend.layouts = [&table](const Graph& graph, const Node& node) {
    const Implementation* chosen = table.find(graph, node);
    return chosen == nullptr || chosen->layouts == nullptr ? NodeLayouts{}
                                                           : chosen->layouts(graph, node);
  };
  backend.same_bytes = [&table](const Type& type, const Layout& a, const Layout& b) {
    return table.same_bytes != nullptr && table.same_bytes(type, a, b);
  };
  backend.scratch_bytes = [&table](const Graph& graph, const Node& node) -> std::int64_t {
    const Implementation* chosen = table.find(graph, node);
    return chosen == nullptr || chosen->scratch_bytes == nullptr
               ? 0
               : chosen->scratch_bytes(graph, node);
  };
  backend.in_place = [&table](const Graph& graph, const Node& node, int, int) {
    const Implementation* chosen = table.find(graph, node);
    return chosen != nullptr && chosen->in_place;
  };
  // A fused node is worth having when a fast kernel takes it; the reference computes every form.
  backend.fusible = [&table](const Graph& graph, const Node& node) {
    const auto found = table.by_op.find(node.op->name);
    if (found == table.by_op.end()) return true;
    const auto takes = [&](const Implementation& one) { return one.supports(graph, node); };
    return std::any_of(found->second.begin(), found->second.end(), takes);
  };
  return backend;
}

}  // namespace tutti
