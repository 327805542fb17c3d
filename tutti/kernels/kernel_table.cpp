// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/kernel_table.h"

#include "tutti/core/nearest.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti {
namespace {

// The variant that the node names by its setting `variant`; "": none.
std::string asked_for(const Node& node) {
  if (!node.settings.has("variant")) return "";
  const std::string& variant = node.settings.text("variant");
  return variant == "auto" ? "" : variant;
}

bool is_preferred(const Implementation& one, const Graph& graph, const Node& node) {
  return (one.preferred == nullptr || one.preferred(graph, node)) && one.supports(graph, node);
}

[[noreturn]] void fail_unsupported(const KernelTable& table, const Graph& graph, const Node& node,
                                   const std::vector<Implementation>& all) {
  const std::string asked = asked_for(node);
  std::vector<std::string> names, able;
  for (const Implementation& one : all) names.push_back(one.name);
  if (std::find(names.begin(), names.end(), asked) == names.end())
    throw Error("[{}] unknown variant '{}'{}", node.op->name, asked, suggestion(asked, names));
  for (const Implementation* one : table.supporting(graph, node)) able.push_back(one->name);
  throw Error("[{}] variant '{}' can't compute {} with {}; expected auto{}{}", node.op->name, asked,
              to_string(graph.shape(node.inputs[0])), to_string(graph.shape(node.inputs[1])),
              able.empty() ? "" : ", ", fmt::join(able, ", "));
}

// Returns `found`; throws Error where it works on the memory of another device than the table's.
const Implementation* fitting(const KernelTable& table, const Node& node,
                              const Implementation* found) {
  if (found != nullptr && found->device != table.device->name)
    throw Error(
        "[{}] has no kernel on back end '{}': implementation '{}' works on memory of the {}, not "
        "of device '{}'",
        node.op->name, table.name, found->name, found->device, table.device->name);
  return found;
}

const Implementation* last_resort_of(const KernelTable& table, const Node& node) {
  return table.last_resort == nullptr ? nullptr : fitting(table, node, table.last_resort(*node.op));
}

}  // namespace

std::vector<const Implementation*> KernelTable::supporting(const Graph& graph,
                                                           const Node& node) const {
  std::vector<const Implementation*> all;
  if (const auto found = by_op.find(node.op->name); found != by_op.end())
    for (const Implementation& one : found->second)
      if (one.supports(graph, node)) all.push_back(&one);
  return all;
}

const Implementation* KernelTable::find(const Graph& graph, const Node& node) const {
  const auto found = by_op.find(node.op->name);
  if (found == by_op.end()) return last_resort_of(*this, node);
  const std::string asked = asked_for(node);
  for (const Implementation& one : found->second)
    if (asked.empty() ? is_preferred(one, graph, node)
                      : one.name == asked && one.supports(graph, node))
      return fitting(*this, node, &one);
  if (!asked.empty()) fail_unsupported(*this, graph, node, found->second);
  return last_resort_of(*this, node);
}

const Implementation* KernelTable::find_laid_out(const Graph& graph, const Node& node) const {
  const auto fits = [&](const Implementation& one) {
    return one.fits == nullptr || one.fits(graph, node);
  };
  const Implementation* first = find(graph, node);
  if (first == nullptr || fits(*first)) return first;
  for (const Implementation& one : by_op.find(node.op->name)->second)
    if (is_preferred(one, graph, node) && fits(one)) return fitting(*this, node, &one);
  return last_resort_of(*this, node);
}

const Implementation& KernelTable::choose(const Graph& graph, const Node& node) const {
  if (const Implementation* found = find_laid_out(graph, node); found != nullptr) return *found;
  throw Error("[{}] has no kernel on back end '{}'", node.op->name, name);
}

Backend backend_of(const KernelTable& table) {
  Backend backend;
  backend.name = table.name;
  backend.layouts = [&table](const Graph& graph, const Node& node) {
    const Implementation* chosen = table.find(graph, node);
    return chosen == nullptr || chosen->layouts == nullptr ? NodeLayouts{}
                                                           : chosen->layouts(graph, node);
  };
  backend.readable = [&table](const Graph& graph, const Node& node, ValueId input) {
    const Layout& layout = graph.value(input).layout;
    if (layout.plain() || table.readable == nullptr) return layout;
    return table.readable(table.find(graph, node), graph.type(input), layout);
  };
  backend.variant = [&table](const Graph& graph, const Node& node) -> std::string {
    if (std::string asked = asked_for(node); !asked.empty()) return asked;
    const Implementation* chosen = table.find(graph, node);
    for (const Implementation* one : table.supporting(graph, node))
      if (one == chosen) return one->name;
    return "auto";
  };
  backend.same_bytes = [&table](const Type& type, const Layout& a, const Layout& b) {
    return table.same_bytes != nullptr && table.same_bytes(type, a, b);
  };
  backend.scratch_bytes = [&table](const Graph& graph, const Node& node) -> std::int64_t {
    const Implementation* chosen = table.find_laid_out(graph, node);
    return chosen == nullptr || chosen->scratch_bytes == nullptr
               ? 0
               : chosen->scratch_bytes(graph, node);
  };
  backend.in_place = [&table](const Graph& graph, const Node& node, int, int) {
    const Implementation* chosen = table.find_laid_out(graph, node);
    return chosen != nullptr && chosen->in_place;
  };
  // A fused node is worth having when an implementation of the table takes it. Operators without
  // any are run by the reference, which computes every form.
  backend.fusible = [&table](const Graph& graph, const Node& node) {
    const auto found = table.by_op.find(node.op->name);
    if (found == table.by_op.end()) return true;
    const std::string asked = asked_for(node);
    const auto takes = [&](const Implementation& one) {
      return asked.empty() ? is_preferred(one, graph, node)
                           : one.name == asked && one.supports(graph, node);
    };
    return std::any_of(found->second.begin(), found->second.end(), takes);
  };
  return backend;
}

}  // namespace tutti
