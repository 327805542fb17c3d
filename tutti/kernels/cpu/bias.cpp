// SPDX-License-Identifier: Apache-2.0
// Bias of linear layers that was not fused, and its gradient: sums over the rows of a matrix.
#include "tutti/kernels/cpu/bias.h"

#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"

namespace tutti::cpu {
namespace {

bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[0]);
  const std::int64_t axis = node.settings.integer("axis");
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  return x.dtype == DType::f32 && rank >= 2 && (axis == -1 || axis == rank - 1);
}

Kernel make_bias(const Graph& graph, const Node& node, const KernelContext& context) {
  const std::int64_t columns = graph.shape(node.inputs[0]).back();
  const std::int64_t rows = elements(graph.shape(node.inputs[0])) / columns;
  return [=, threads = context.threads](const Run& run) {
    const auto* x = static_cast<const float*>(run.in[0]);
    const auto* b = static_cast<const float*>(run.in[1]);
    auto* y = static_cast<float*>(run.out[0]);
    parallel(rows, 1 + 8192 / columns, threads, [&](std::int64_t begin, std::int64_t end) {
      loops().add_row(x + begin * columns, b, y + begin * columns, end - begin, columns);
    });
  };
}

Kernel make_bias_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  const std::int64_t columns = graph.shape(node.inputs[0]).back();
  const std::int64_t rows = elements(graph.shape(node.inputs[0])) / columns;
  return [=, threads = context.threads](const Run& run) {
    const auto* dy = static_cast<const float*>(run.in[0]);
    auto* db = static_cast<float*>(run.out[0]);
    const std::int64_t grain = std::max<std::int64_t>(64, (16384 / rows + 63) / 64 * 64);
    parallel(columns, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      loops().sum_rows(dy + begin, db + begin, rows, end - begin, columns);
    });
  };
}

}  // namespace

Implementation bias() {
  return {.name = "simd", .supports = supports, .make = make_bias, .in_place = true};
}
Implementation bias_grad() {
  return {.name = "simd", .supports = supports, .make = make_bias_grad};
}

}  // namespace tutti::cpu
