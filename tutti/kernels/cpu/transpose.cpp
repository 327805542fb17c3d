// SPDX-License-Identifier: Apache-2.0
// Transposition is a reorder: x seen in the order of y's dimensions, with the strides that it has.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;

onednn::Descriptor describe(const Graph& graph, const Node& node) {
  const Type &x = graph.type(node.inputs[0]), &y = graph.type(node.outputs[0]);
  Shape strides;
  for (std::int64_t d : node.settings.integers("permutation"))
    strides.push_back(elements(x.shape, static_cast<std::size_t>(d) + 1, x.shape.size()));
  const dnnl_memory_desc_t from = onednn::strided(x.dtype, y.shape, strides), to = onednn::plain(y);
  const auto attributes = onednn::attributes();
  dnnl_primitive_desc_t handle = nullptr;
  onednn::check(dnnl_reorder_primitive_desc_create(&handle, &from, onednn::engine(), &to,
                                                   onednn::engine(), attributes.get()),
                "dnnl_reorder_primitive_desc_create");
  return onednn::Descriptor(handle);
}

bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[0]);
  return x.dtype != DType::f64 && !x.shape.empty() && elements(x.shape) > 0;
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const auto pd = describe(graph, node);
  return onednn::make_kernel(
      pd.get(), {{DNNL_ARG_FROM, Argument::input, 0, onednn::query(pd.get(), dnnl_query_src_md)},
                 {DNNL_ARG_TO, Argument::output, 0, onednn::query(pd.get(), dnnl_query_dst_md)}});
}

}  // namespace

Implementation transpose() {
  return {.name = "onednn", .supports = supports, .make = make, .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
