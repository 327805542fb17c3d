// SPDX-License-Identifier: Apache-2.0
// Rows of contiguous elements, each multiplied by one number; and the gradient by that number, a
// sum of products for each row.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/axis.h"

namespace tutti::cpu {
namespace {

ops::AxisView view_of(const Graph& graph, const Node& node) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return ops::view_along("gain", node.settings, shape);
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype == DType::f32 && view_of(graph, node).inner > 1;
}

Kernel make_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [view = view_of(graph, node), threads = context.threads](const KernelArguments& arguments) {
        const auto *x = static_cast<const float*>(arguments.in[0]),
                   *g = static_cast<const float*>(arguments.in[1]);
        auto* y = static_cast<float*>(arguments.out[0]);
        parallel(view.outer * view.extent, 1 + 8192 / view.inner, threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r)
                     loops().scale(x + r * view.inner, g[r % view.extent], y + r * view.inner,
                                   view.inner);
                 });
      };
}

Kernel make_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [view = view_of(graph, node), threads = context.threads](const KernelArguments& arguments) {
        const auto *a = static_cast<const float*>(arguments.in[0]),
                   *b = static_cast<const float*>(arguments.in[1]);
        auto* dg = static_cast<float*>(arguments.out[0]);
        parallel(view.extent, 1 + 8192 / (view.outer * view.inner), threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t c = begin; c < end; ++c) {
                     double sum = 0;
                     for (std::int64_t o = 0; o < view.outer; ++o) {
                       const std::int64_t first = (o * view.extent + c) * view.inner;
                       sum += loops().dot(a + first, b + first, view.inner);
                     }
                     dg[c] = static_cast<float>(sum);
                   }
                 });
      };
}

}  // namespace

Implementation gain() {
  return {.name = "simd", .supports = supports, .make = make_forward, .in_place = true};
}
Implementation gain_grad() { return {.name = "simd", .supports = supports, .make = make_backward}; }

}  // namespace tutti::cpu
