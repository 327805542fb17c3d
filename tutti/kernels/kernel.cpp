// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/kernel.h"

#include "tutti/kernels/reference/reference.h"

namespace tutti {

const Implementation& KernelTable::choose(const Graph& graph, const Node& node) const {
  if (const auto found = by_op.find(node.op->name); found != by_op.end())
    for (const Implementation& implementation : found->second)
      if (implementation.supports(graph, node)) return implementation;
  if (const Implementation* plain = reference_for(*node.op); plain != nullptr) return *plain;
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
  backend.unsupported = [&table](const Graph& graph, const Node& node) -> std::string {
    try {
      table.choose(graph, node);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  backend.layouts = [&table](const Graph& graph, const Node& node) {
    const Implementation& chosen = table.choose(graph, node);
    return chosen.layouts == nullptr ? NodeLayouts{} : chosen.layouts(graph, node);
  };
  backend.scratch_bytes = [&table](const Graph& graph, const Node& node) -> std::int64_t {
    const Implementation& chosen = table.choose(graph, node);
    return chosen.scratch_bytes == nullptr ? 0 : chosen.scratch_bytes(graph, node);
  };
  backend.in_place = [&table](const Graph& graph, const Node& node, int, int) {
    return table.choose(graph, node).in_place;
  };
  // A fused node is worth having when the implementation of the plain node takes it too.
  backend.fusible = [&table](const Graph& graph, const Node& node) {
    const auto found = table.by_op.find(node.op->name);
    if (found == table.by_op.end()) return true;  // the reference computes every fused form
    return found->second.empty() || found->second.front().supports(graph, node);
  };
  return backend;
}

}  // namespace tutti
