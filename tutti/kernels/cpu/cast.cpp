// SPDX-License-Identifier: Apache-2.0
// Floats to bf16 and back, over this rank's team.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"

namespace tutti::cpu {
namespace {

constexpr std::int64_t grain = 16384;

bool supports(const Graph& graph, const Node& node) {
  const DType from = graph.type(node.inputs[0]).dtype, to = graph.type(node.outputs[0]).dtype;
  return (from == DType::f32 && to == DType::bf16) || (from == DType::bf16 && to == DType::f32);
}

Kernel make(const Graph& graph, const Node& node, const KernelContext& context) {
  const bool widens = graph.type(node.inputs[0]).dtype == DType::bf16;
  const std::int64_t count = elements(graph.shape(node.inputs[0]));
  return [=, threads = context.threads](const KernelArguments& arguments) {
    parallel(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      if (widens)
        loops().widen_bf16(static_cast<const std::uint16_t*>(arguments.in[0]) + begin,
                           static_cast<float*>(arguments.out[0]) + begin, end - begin);
      else
        loops().narrow_bf16(static_cast<const float*>(arguments.in[0]) + begin,
                            static_cast<std::uint16_t*>(arguments.out[0]) + begin, end - begin);
    });
  };
}

}  // namespace

Implementation cast() { return {.name = "simd", .supports = supports, .make = make}; }

}  // namespace tutti::cpu
