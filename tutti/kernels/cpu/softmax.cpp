// SPDX-License-Identifier: Apache-2.0
// Softmax along any axis of a row-major tensor.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/axis.h"

namespace tutti::cpu {
namespace {

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32;
}

// Calls part(lines, first element) for the lines that share an outer index.
template <class Part>
void for_each(const ops::AxisView& view, int threads, const Part& part) {
  const std::int64_t slab = view.extent * view.inner;
  parallel(view.outer, 1 + 4096 / (slab > 0 ? slab : 1), threads,
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t o = begin; o < end; ++o)
               part(SoftmaxLines{view.extent, view.inner, view.inner}, o * slab);
           });
}

ops::AxisView view_of(const Graph& graph, const Node& node) {
  const Shape& shape = graph.shape(node.outputs[0]);
  return ops::view_along("softmax", node.settings, shape);
}

Kernel make_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [view = view_of(graph, node), threads = context.threads](const KernelArguments& arguments) {
        const auto* x = static_cast<const float*>(arguments.in[0]);
        auto* y = static_cast<float*>(arguments.out[0]);
        for_each(view, threads, [&](const SoftmaxLines& lines, std::int64_t first) {
          loops().softmax(lines, x + first, y + first);
        });
      };
}

Kernel make_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [view = view_of(graph, node), threads = context.threads](const KernelArguments& arguments) {
        const auto *dy = static_cast<const float*>(arguments.in[0]),
                   *y = static_cast<const float*>(arguments.in[1]);
        auto* dx = static_cast<float*>(arguments.out[0]);
        for_each(view, threads, [&](const SoftmaxLines& lines, std::int64_t first) {
          loops().softmax_grad(lines, dy + first, y + first, dx + first);
        });
      };
}

}  // namespace

Implementation softmax() {
  return {.name = "simd", .supports = supports, .make = make_forward, .in_place = true};
}
Implementation softmax_grad() {
  return {.name = "simd", .supports = supports, .make = make_backward, .in_place = true};
}

}  // namespace tutti::cpu
