// SPDX-License-Identifier: Apache-2.0
// Activations that were not fused into the operator before them, by oneDNN, in the layout of their
// input.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;
using onednn::Descriptor;

// The descriptor of a tensor; a row-major one is described as a vector of all its elements.
dnnl_memory_desc_t descriptor_of(const Value& value, bool plain) {
  if (!plain && !value.layout.plain()) return onednn::as_it_lies(value);
  return onednn::plain(value.type.dtype, {elements(value.type.shape)});
}

float slope_of(const Node& node) {
  return node.settings.has("slope") ? static_cast<float>(node.settings.real("slope")) : 0.0f;
}

Descriptor describe_forward(const Node& node, dnnl_alg_kind_t kind, const dnnl_memory_desc_t& x) {
  dnnl_eltwise_desc_t operation;
  onednn::check(dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_training, kind, &x,
                                               slope_of(node), 0.0f),
                "dnnl_eltwise_forward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get());
}

Descriptor describe_backward(const Node& node, dnnl_alg_kind_t kind, const dnnl_memory_desc_t& x) {
  const Descriptor hint = describe_forward(node, kind, x);
  if (hint == nullptr) return nullptr;
  dnnl_eltwise_desc_t operation;
  onednn::check(dnnl_eltwise_backward_desc_init(&operation, kind, &x, &x, slope_of(node), 0.0f),
                "dnnl_eltwise_backward_desc_init");
  return onednn::describe(&operation, onednn::attributes().get(), hint.get());
}

// The primitive of y = f(x), or of dx = f'(x) dy. The last input is x.
template <dnnl_alg_kind_t kind, bool forward>
Descriptor describe(const Graph& graph, const Node& node, bool plain) {
  const Value& x = graph.value(node.inputs.back());
  return onednn::unless_reference(
      (forward ? describe_forward : describe_backward)(node, kind, descriptor_of(x, plain)));
}

template <dnnl_alg_kind_t kind, bool forward>
bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs.back());
  return x.dtype == DType::f32 && elements(x.shape) > 0 &&
         describe<kind, forward>(graph, node, true) != nullptr;
}

// The layout of the input, or row-major where oneDNN has no fast kernel that keeps the padding of
// blocks zero.
template <dnnl_alg_kind_t kind, bool forward>
NodeLayouts layouts(const Graph& graph, const Node& node) {
  if (describe<kind, forward>(graph, node, false) == nullptr) return {};
  const Layout layout = graph.value(node.inputs.back()).layout;
  return {std::vector<Layout>(node.inputs.size(), layout), {layout}};
}

template <dnnl_alg_kind_t kind, bool forward>
std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe<kind, forward>(graph, node, false).get());
}

template <dnnl_alg_kind_t kind, bool forward>
Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const Descriptor pd = describe<kind, forward>(graph, node, false);
  const dnnl_memory_desc_t md = descriptor_of(graph.value(node.inputs.back()), false);
  if (forward)
    return onednn::make_kernel(pd.get(), {{DNNL_ARG_SRC, Argument::input, 0, md},
                                          {DNNL_ARG_DST, Argument::output, 0, md}});
  return onednn::make_kernel(pd.get(), {{DNNL_ARG_DIFF_DST, Argument::input, 0, md},
                                        {DNNL_ARG_SRC, Argument::input, 1, md},
                                        {DNNL_ARG_DIFF_SRC, Argument::output, 0, md}});
}

template <dnnl_alg_kind_t kind, bool forward>
Implementation eltwise() {
  return {.name = "onednn",
          .supports = supports<kind, forward>,
          .make = make<kind, forward>,
          .layouts = layouts<kind, forward>,
          .scratch_bytes = scratch<kind, forward>,
          .in_place = true};
}

}  // namespace

Implementation sigmoid() { return eltwise<dnnl_eltwise_logistic, true>(); }
Implementation tanh() { return eltwise<dnnl_eltwise_tanh, true>(); }
Implementation gelu() { return eltwise<dnnl_eltwise_gelu_erf, true>(); }
Implementation gelu_grad() { return eltwise<dnnl_eltwise_gelu_erf, false>(); }
Implementation leaky_relu() { return eltwise<dnnl_eltwise_relu, true>(); }
Implementation leaky_relu_grad() { return eltwise<dnnl_eltwise_relu, false>(); }

}  // namespace tutti::cpu
