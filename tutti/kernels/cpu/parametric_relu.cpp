// SPDX-License-Identifier: Apache-2.0
// Parametric ReLU in the layout that x has: by oneDNN with a slope per channel, by own loops with
// one slope for all.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

using onednn::Argument;
using onednn::Descriptor;

// The slopes as a tensor of x's rank that is repeated along all dimensions but the channels. Where
// x is blocked, the slopes must be blocked, too; in whole blocks they are the same bytes.
dnnl_memory_desc_t slope_descriptor(const Value& x, const Type& slope) {
  Type repeated{slope.dtype, Shape(x.type.shape.size(), 1)};
  repeated.shape[1] = slope.shape[0];
  const dnnl_memory_desc_t like_x = onednn::in_layout_of(x, repeated);
  const bool whole = dnnl_memory_desc_get_size(&like_x) == static_cast<std::size_t>(slope.bytes());
  return whole ? like_x : onednn::plain(repeated);
}

template <bool forward>
Descriptor describe(const dnnl_memory_desc_t& x, const dnnl_memory_desc_t& slope) {
  dnnl_prelu_desc_t operation;
  onednn::check(dnnl_prelu_forward_desc_init(&operation, dnnl_forward_training, &x, &slope),
                "dnnl_prelu_forward_desc_init");
  Descriptor hint = onednn::describe(&operation, onednn::attributes().get());
  if (forward || hint == nullptr) return onednn::unless_reference(std::move(hint));
  onednn::check(dnnl_prelu_backward_desc_init(&operation, &x, &slope, &x, &slope),
                "dnnl_prelu_backward_desc_init");
  return onednn::unless_reference(
      onednn::describe(&operation, onednn::attributes().get(), hint.get()));
}

// The primitive of parametric_relu or its gradient; x and slope are the last two inputs of both.
template <bool forward>
Descriptor describe(const Graph& graph, const Node& node, bool plain) {
  const Value& x = graph.value(node.inputs[forward ? 0 : 1]);
  const Type& slope = graph.type(node.inputs.back());
  const Value row_major{.name = "", .type = x.type};
  return describe<forward>(onednn::as_it_lies(plain ? row_major : x),
                           slope_descriptor(plain ? row_major : x, slope));
}

template <bool forward>
bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[forward ? 0 : 1]);
  return x.dtype == DType::f32 && x.shape.size() >= 2 &&
         describe<forward>(graph, node, true) != nullptr;
}

template <bool forward>
NodeLayouts layouts(const Graph& graph, const Node& node) {
  if (describe<forward>(graph, node, false) == nullptr) return {};
  const Layout layout = graph.value(node.inputs[forward ? 0 : 1]).layout;
  if (forward) return {{layout}, {layout}};
  return {{layout, layout}, {layout}};
}

template <bool forward>
std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe<forward>(graph, node, false).get());
}

template <bool forward>
Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  const Descriptor pd = describe<forward>(graph, node, false);
  const Value& value = graph.value(node.inputs[forward ? 0 : 1]);
  const dnnl_memory_desc_t x = onednn::as_it_lies(value);
  const dnnl_memory_desc_t slope = slope_descriptor(value, graph.type(node.inputs.back()));
  if (forward)
    return onednn::make_kernel(pd.get(), {{DNNL_ARG_SRC, Argument::input, 0, x},
                                          {DNNL_ARG_WEIGHTS, Argument::input, 1, slope},
                                          {DNNL_ARG_DST, Argument::output, 0, x}});
  return onednn::make_kernel(pd.get(), {{DNNL_ARG_DIFF_DST, Argument::input, 0, x},
                                        {DNNL_ARG_SRC, Argument::input, 1, x},
                                        {DNNL_ARG_WEIGHTS, Argument::input, 2, slope},
                                        {DNNL_ARG_DIFF_SRC, Argument::output, 0, x},
                                        {DNNL_ARG_DIFF_WEIGHTS, Argument::output, 1, slope}});
}

template <bool forward>
Implementation implementation() {
  return {.name = "onednn",
          .supports = supports<forward>,
          .make = make<forward>,
          .layouts = layouts<forward>,
          .scratch_bytes = scratch<forward>};
}

constexpr std::int64_t parts = 32;  // fixed, so that dslope does not depend on the threads

std::int64_t count_of(const Value& x) {
  return x.bytes() / static_cast<std::int64_t>(sizeof(float));
}

bool supports_shared(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32 &&
         elements(graph.shape(node.inputs.back())) == 1;
}

template <bool forward>
NodeLayouts layouts_shared(const Graph& graph, const Node& node) {
  const Layout layout = graph.value(node.inputs[forward ? 0 : 1]).layout;
  if (forward) return {{layout}, {layout}};
  return {{layout, layout}, {layout}};
}

Kernel make_shared_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  return [n = count_of(graph.value(node.inputs[0])),
          threads = context.threads](const KernelArguments& arguments) {
    const auto *x = static_cast<const float*>(arguments.in[0]),
               *slope = static_cast<const float*>(arguments.in[1]);
    auto* y = static_cast<float*>(arguments.out[0]);
    parallel(n, 8192, threads, [&](std::int64_t begin, std::int64_t end) {
      loops().leaky_relu(x + begin, *slope, y + begin, end - begin);
    });
  };
}

std::int64_t scratch_shared(const Graph&, const Node&) {
  return parts * static_cast<std::int64_t>(sizeof(double));
}

Kernel make_shared_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  return [n = count_of(graph.value(node.inputs[1])),
          threads = context.threads](const KernelArguments& arguments) {
    const auto *dy = static_cast<const float*>(arguments.in[0]),
               *x = static_cast<const float*>(arguments.in[1]);
    const auto* slope = static_cast<const float*>(arguments.in[2]);
    auto* dx = static_cast<float*>(arguments.out[0]);
    auto* sums = static_cast<double*>(arguments.scratch);
    parallel(parts, 1 + 8192 * parts / (n + 1), threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t first = n * part / parts, last = n * (part + 1) / parts;
        sums[part] =
            loops().leaky_relu_grad(dy + first, x + first, *slope, dx + first, last - first);
      }
    });
    double total = 0;
    for (std::int64_t part = 0; part < parts; ++part) total += sums[part];
    *static_cast<float*>(arguments.out[1]) = static_cast<float>(total);
  };
}

}  // namespace

Implementation parametric_relu_shared() {
  return {.name = "simd",
          .supports = supports_shared,
          .make = make_shared_forward,
          .layouts = layouts_shared<true>,
          .in_place = true};
}
Implementation parametric_relu_grad_shared() {
  return {.name = "simd",
          .supports = supports_shared,
          .make = make_shared_backward,
          .layouts = layouts_shared<false>,
          .scratch_bytes = scratch_shared,
          .in_place = true};
}
Implementation parametric_relu() { return implementation<true>(); }
Implementation parametric_relu_grad() { return implementation<false>(); }

}  // namespace tutti::cpu
