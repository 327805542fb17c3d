// SPDX-License-Identifier: Apache-2.0
// Rows of floats to 8-bit integers, and sums of their products back to floats. Rows are shared out
// over the team.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/activation.h"

#include <optional>

namespace tutti::cpu {
namespace {

std::int64_t rows_of_a_part(std::int64_t row) { return 1 + 4096 / std::max<std::int64_t>(row, 1); }

bool supports_quantise(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype == DType::f32;
}

Kernel make_quantise(const Graph& graph, const Node& node, const KernelContext& context) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return
      [rows = shape[0], n = shape[1], threads = context.threads](const KernelArguments& arguments) {
        const auto* x = static_cast<const float*>(arguments.in[0]);
        auto* q = static_cast<std::int8_t*>(arguments.out[0]);
        auto* scale = static_cast<float*>(arguments.out[1]);
        parallel(rows, rows_of_a_part(n), threads, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r)
            scale[r] = loops().quantise(x + r * n, q + r * n, n);
        });
      };
}

// The slope of the activation for negative values; nothing where it is not linear there.
std::optional<float> slope_of(const Node& node) {
  switch (ops::activation_of(node.settings)) {
    case ops::Activation::none:
      return 1.0f;
    case ops::Activation::relu:
      return 0.0f;
    case ops::Activation::leaky_relu:
      return static_cast<float>(node.settings.real("slope"));
    default:
      return std::nullopt;
  }
}

bool supports_dequantise(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32 && slope_of(node).has_value();
}

Kernel make_dequantise(const Graph& graph, const Node& node, const KernelContext& context) {
  const Shape& shape = graph.shape(node.outputs[0]);
  const bool bias = node.inputs.size() > 3, residual = node.inputs.size() > 4;
  return [=, rows = shape[0], n = shape[1], slope = *slope_of(node),
          threads = context.threads](const KernelArguments& arguments) {
    const auto* sums = static_cast<const std::int32_t*>(arguments.in[0]);
    const auto* scale = static_cast<const float*>(arguments.in[1]);
    const auto* added = residual ? static_cast<const float*>(arguments.in[4]) : nullptr;
    auto* y = static_cast<float*>(arguments.out[0]);
    DequantisedRow row{.n = n,
                       .column_scale = static_cast<const float*>(arguments.in[2]),
                       .bias = bias ? static_cast<const float*>(arguments.in[3]) : nullptr,
                       .slope = slope};
    parallel(rows, rows_of_a_part(n), threads, [&, row](std::int64_t begin, std::int64_t end) {
      DequantisedRow own = row;
      for (std::int64_t r = begin; r < end; ++r) {
        own.scale = scale[r];
        loops().dequantise(own, sums + r * n, added == nullptr ? nullptr : added + r * n,
                           y + r * n);
      }
    });
  };
}

}  // namespace

Implementation quantise() {
  return {.name = "simd", .supports = supports_quantise, .make = make_quantise};
}
Implementation dequantise() {
  return {.name = "simd", .supports = supports_dequantise, .make = make_dequantise};
}

}  // namespace tutti::cpu
