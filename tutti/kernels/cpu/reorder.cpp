// SPDX-License-Identifier: Apache-2.0
// A change of layout by oneDNN. A plain side takes the dimensions of the other (grouped weights).
#include "tutti/kernels/cpu/reorder.h"

#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

dnnl_memory_desc_t side(const Value& value, const Value& other) {
  if (!value.layout.plain() || other.layout.plain()) return onednn::as_it_lies(value);
  const dnnl_memory_desc_t shaped = onednn::as_it_lies(other);
  return onednn::plain(value.type.dtype, Shape(shaped.dims, shaped.dims + shaped.ndims));
}

onednn::Descriptor describe(const Graph& graph, const Node& node) {
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  const dnnl_memory_desc_t from = side(x, y), to = side(y, x);
  const auto attributes = onednn::attributes();
  dnnl_primitive_desc_t handle = nullptr;
  onednn::check(dnnl_reorder_primitive_desc_create(&handle, &from, onednn::engine(), &to,
                                                   onednn::engine(), attributes.get()),
                "dnnl_reorder_primitive_desc_create");
  return onednn::Descriptor(handle);
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype != DType::f64;
}

// A reorder leaves its input's layout and makes its output's as they are.
NodeLayouts layouts(const Graph& graph, const Node& node) {
  return {{graph.value(node.inputs[0]).layout}, {graph.value(node.outputs[0]).layout}};
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const auto pd = describe(graph, node);
  return onednn::make_kernel(
      pd.get(),
      {{DNNL_ARG_FROM, onednn::Argument::input, 0, onednn::query(pd.get(), dnnl_query_src_md)},
       {DNNL_ARG_TO, onednn::Argument::output, 0, onednn::query(pd.get(), dnnl_query_dst_md)}});
}

}  // namespace

Implementation reorder() {
  return {.name = "onednn",
          .supports = supports,
          .make = make,
          .layouts = layouts,
          .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
