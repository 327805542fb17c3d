// SPDX-License-Identifier: Apache-2.0
// Pooling by oneDNN. Its workspace is our `index`: the position of the maximum inside the window,
// one byte each, laid out like y.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/kernels/cpu/stored.h"
#include "tutti/ops/max_pool.h"
#include "tutti/ops/shared/window.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;
using onednn::Descriptor;

struct Geometry {
  std::vector<dnnl_dim_t> kernel, stride, padding, far_padding;
};

Geometry geometry(const Settings& settings, const Shape& x) {
  Geometry g;
  for (const ops::Window& window : ops::pool_windows("pool", settings, ops::spatial_of(x))) {
    g.kernel.push_back(window.kernel);
    g.stride.push_back(window.stride);
    g.padding.push_back(window.padding);
    g.far_padding.push_back(window.padding + window.overhang);
  }
  return g;
}

dnnl_alg_kind_t algorithm(const Node& node, bool max) {
  if (max) return dnnl_pooling_max;
  return node.settings.flag("count_padding") ? dnnl_pooling_avg_include_padding
                                             : dnnl_pooling_avg_exclude_padding;
}

Descriptor describe_forward(const Node& node, bool max, const Type& x_type,
                            const dnnl_memory_desc_t& x, const dnnl_memory_desc_t& y) {
  const Geometry g = geometry(node.settings, x_type.shape);
  dnnl_pooling_desc_t operation;
  onednn::check(dnnl_pooling_forward_desc_init(
                    &operation, dnnl_forward_training, algorithm(node, max), &x, &y,
                    g.stride.data(), g.kernel.data(), g.padding.data(), g.far_padding.data()),
                "dnnl_pooling_forward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get());
}

Descriptor describe_backward(const Node& node, bool max, const Type& x_type,
                             const dnnl_memory_desc_t& dx, const dnnl_memory_desc_t& dy) {
  const Descriptor hint = describe_forward(node, max, x_type, dx, dy);
  if (hint == nullptr) return nullptr;
  const Geometry g = geometry(node.settings, x_type.shape);
  dnnl_pooling_desc_t operation;
  onednn::check(
      dnnl_pooling_backward_desc_init(&operation, algorithm(node, max), &dx, &dy, g.stride.data(),
                                      g.kernel.data(), g.padding.data(), g.far_padding.data()),
      "dnnl_pooling_backward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get(), hint.get());
}

// Forward: y and index lie like x. Backward: dx and dy lie like index (or dy, for averages). All
// tensors but index are stored in the format of x or dy.
template <bool max, bool forward>
dnnl_memory_desc_t wanted_for(const Graph& graph, const Node& node, const Type& type) {
  const Value& like = graph.value(forward || !max ? node.inputs[0] : node.inputs[1]);
  const dnnl_memory_desc_t md = onednn::in_layout_of(like, type);
  return type.dtype == DType::f32 && format_of(graph.value(node.inputs[0])) == Format::bf16
             ? onednn::stored_as(dnnl_bf16, md)
             : md;
}

template <bool max, bool forward>
NodeLayouts layouts(const Graph& graph, const Node& node) {
  NodeLayouts wanted;
  const auto layout = [&](ValueId id) {
    return onednn::layout_of(wanted_for<max, forward>(graph, node, graph.type(id)));
  };
  for (ValueId id : node.inputs) wanted.inputs.push_back(layout(id));
  for (ValueId id : node.outputs) wanted.outputs.push_back(layout(id));
  return wanted;
}

// The primitive for the layouts wanted. They differ from the layouts that the values have only in
// name: an image of one pixel is the same bytes in several layouts and counts as plain, but oneDNN
// wants both sides under one name.
template <bool max, bool forward>
Descriptor describe(const Graph& graph, const Node& node) {
  const Value& image = graph.value(forward ? node.inputs[0] : node.outputs[0]);
  const Value& pooled = graph.value(forward ? node.outputs[0] : node.inputs[0]);
  const auto x = wanted_for<max, forward>(graph, node, image.type);
  const auto y = wanted_for<max, forward>(graph, node, pooled.type);
  return onednn::unless_reference(
      (forward ? describe_forward : describe_backward)(node, max, image.type, x, y));
}

template <bool max, bool forward>
bool supports(const Graph& graph, const Node& node) {
  if (graph.type(node.outputs[0]).dtype != DType::f32) return false;
  if (max && graph.type(forward ? node.outputs[1] : node.inputs[1]).dtype != DType::u8)
    return false;
  const Descriptor pd = describe<max, forward>(graph, node);
  return pd != nullptr &&
         (!max || onednn::query(pd.get(), dnnl_query_workspace_md).data_type == dnnl_u8);
}

template <bool max, bool forward>
Descriptor describe_final(const Graph& graph, const Node& node) {
  Descriptor pd = describe<max, forward>(graph, node);
  if (pd == nullptr)
    throw Error("[{}] oneDNN has no fast kernel in the layouts given", node.op->name);
  return pd;
}

template <bool max, bool forward>
std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe_final<max, forward>(graph, node).get());
}

template <bool max, bool forward>
Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const Descriptor pd = describe_final<max, forward>(graph, node);
  const auto md = [&](dnnl_query_t what) { return onednn::query(pd.get(), what); };
  std::vector<Argument> arguments;
  if (forward) {
    arguments = {{DNNL_ARG_SRC, Argument::input, 0, md(dnnl_query_src_md)},
                 {DNNL_ARG_DST, Argument::output, 0, md(dnnl_query_dst_md)}};
    if (max)
      arguments.push_back({DNNL_ARG_WORKSPACE, Argument::output, 1, md(dnnl_query_workspace_md)});
  } else {
    arguments = {{DNNL_ARG_DIFF_DST, Argument::input, 0, md(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_DIFF_SRC, Argument::output, 0, md(dnnl_query_diff_src_md)}};
    if (max)
      arguments.push_back({DNNL_ARG_WORKSPACE, Argument::input, 1, md(dnnl_query_workspace_md)});
  }
  return onednn::make_kernel(pd.get(), arguments);
}

template <bool max, bool forward>
Implementation implementation() {
  return {.name = "onednn",
          .supports = supports<max, forward>,
          .make = make<max, forward>,
          .layouts = layouts<max, forward>,
          .scratch_bytes = scratch<max, forward>,
          .bf16 = true};
}

}  // namespace

Implementation max_pool() { return implementation<true, true>(); }
Implementation max_pool_grad() { return implementation<true, false>(); }
Implementation average_pool() { return implementation<false, true>(); }
Implementation average_pool_grad() { return implementation<false, false>(); }

}  // namespace tutti::cpu
