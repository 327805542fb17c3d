// SPDX-License-Identifier: Apache-2.0
// Local response normalisation on row-major images, sample by sample. oneDNN's gradient needs a
// workspace from its forward computation, which an operator has no output for; our own loops
// compute it again.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"

namespace tutti::cpu {
namespace {

ResponseSlab slab_of(const Graph& graph, const Node& node) {
  const Shape& x = graph.shape(node.inputs.back());
  return {.channels = x[1],
          .pixels = elements(x, 2, x.size()),
          .reach = node.settings.integer("size") / 2,
          .alpha = static_cast<float>(node.settings.real("alpha")),
          .k = static_cast<float>(node.settings.real("k"))};
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32 && node.settings.real("beta") == 0.75;
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).bytes();
}

Kernel make_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  return [slab = slab_of(graph, node), samples = graph.shape(node.inputs[0])[0],
          threads = context.threads](const KernelArguments& arguments) {
    const auto* x = static_cast<const float*>(arguments.in[0]);
    auto* y = static_cast<float*>(arguments.out[0]);
    const std::int64_t count = slab.channels * slab.pixels;
    parallel(samples, 1 + 2048 / count, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        loops().local_response(slab, x + n * count, y + n * count);
    });
  };
}

Kernel make_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  return [slab = slab_of(graph, node), samples = graph.shape(node.inputs[0])[0],
          threads = context.threads](const KernelArguments& arguments) {
    const auto *dy = static_cast<const float*>(arguments.in[0]),
               *x = static_cast<const float*>(arguments.in[1]);
    auto *dx = static_cast<float*>(arguments.out[0]),
         *terms = static_cast<float*>(arguments.scratch);
    const std::int64_t count = slab.channels * slab.pixels;
    parallel(samples, 1 + 2048 / count, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        loops().local_response_grad(slab, dy + n * count, x + n * count, terms + n * count,
                                    dx + n * count);
    });
  };
}

}  // namespace

Implementation local_response() {
  return {.name = "simd", .supports = supports, .make = make_forward};
}
Implementation local_response_grad() {
  return {.name = "simd", .supports = supports, .make = make_backward, .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
