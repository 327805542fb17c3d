// SPDX-License-Identifier: Apache-2.0
// Upsampling by oneDNN, in the layout of the input.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;
using onednn::Descriptor;

dnnl_alg_kind_t algorithm(const Node& node) {
  return node.settings.text("mode") == "nearest" ? dnnl_resampling_nearest : dnnl_resampling_linear;
}

// `small` and `large` are x and y, or dx and dy.
Descriptor describe_forward(const Node& node, const dnnl_memory_desc_t& small,
                            const dnnl_memory_desc_t& large) {
  dnnl_resampling_desc_t operation;
  onednn::check(dnnl_resampling_forward_desc_init(&operation, dnnl_forward_training,
                                                  algorithm(node), nullptr, &small, &large),
                "dnnl_resampling_forward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get());
}

Descriptor describe_backward(const Node& node, const dnnl_memory_desc_t& small,
                             const dnnl_memory_desc_t& large) {
  const Descriptor hint = describe_forward(node, small, large);
  if (hint == nullptr) return nullptr;
  dnnl_resampling_desc_t operation;
  onednn::check(
      dnnl_resampling_backward_desc_init(&operation, algorithm(node), nullptr, &small, &large),
      "dnnl_resampling_backward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get(), hint.get());
}

template <bool forward>
Descriptor describe(const Graph& graph, const Node& node, const dnnl_memory_desc_t& in) {
  const Value& like = graph.value(node.inputs[0]);
  const Value as_given{.name = "", .type = like.type, .layout = onednn::layout_of(in)};
  const dnnl_memory_desc_t out = onednn::in_layout_of(as_given, graph.type(node.outputs[0]));
  return onednn::unless_reference(forward ? describe_forward(node, in, out)
                                          : describe_backward(node, out, in));
}

template <bool forward>
bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[0]);
  return x.dtype == DType::f32 && describe<forward>(graph, node, onednn::plain(x)) != nullptr;
}

template <bool forward>
NodeLayouts layouts(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const dnnl_memory_desc_t in = onednn::in_layout_of(x, x.type);
  if (describe<forward>(graph, node, in) == nullptr) return {};
  return {{onednn::layout_of(in)},
          {onednn::layout_of(onednn::in_layout_of(x, graph.type(node.outputs[0])))}};
}

template <bool forward>
Descriptor describe_final(const Graph& graph, const Node& node) {
  return describe<forward>(graph, node, onednn::as_it_lies(graph.value(node.inputs[0])));
}

template <bool forward>
std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe_final<forward>(graph, node).get());
}

template <bool forward>
Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const Descriptor pd = describe_final<forward>(graph, node);
  const auto md = [&](dnnl_query_t what) { return onednn::query(pd.get(), what); };
  if (forward)
    return onednn::make_kernel(pd.get(),
                               {{DNNL_ARG_SRC, Argument::input, 0, md(dnnl_query_src_md)},
                                {DNNL_ARG_DST, Argument::output, 0, md(dnnl_query_dst_md)}});
  return onednn::make_kernel(
      pd.get(), {{DNNL_ARG_DIFF_DST, Argument::input, 0, md(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_DIFF_SRC, Argument::output, 0, md(dnnl_query_diff_src_md)}});
}

template <bool forward>
Implementation resampling() {
  return {.name = "onednn",
          .supports = supports<forward>,
          .make = make<forward>,
          .layouts = layouts<forward>,
          .scratch_bytes = scratch<forward>};
}

}  // namespace

Implementation upsample() { return resampling<true>(); }
Implementation upsample_grad() { return resampling<false>(); }

}  // namespace tutti::cpu
