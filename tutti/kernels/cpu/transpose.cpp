// SPDX-License-Identifier: Apache-2.0
// Transposition as a reorder by oneDNN: x is described in the order of y's dimensions, with x's own
// strides.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

onednn::Descriptor describe(const Graph& graph, const Node& node) {
  const Type &x = graph.type(node.inputs[0]), &y = graph.type(node.outputs[0]);
  Shape strides;
  for (std::int64_t d : node.settings.integers("permutation"))
    strides.push_back(elements(x.shape, static_cast<std::size_t>(d) + 1, x.shape.size()));
  return onednn::describe_reorder(onednn::strided(x.dtype, y.shape, strides), onednn::plain(y));
}

bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[0]);
  return x.dtype != DType::f64 && !x.shape.empty() && elements(x.shape) > 0;
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  return onednn::make_reorder(describe(graph, node));
}

}  // namespace

Implementation transpose() {
  return {.name = "onednn", .supports = supports, .make = make, .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
