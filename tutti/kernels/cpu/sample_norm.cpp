// SPDX-License-Identifier: Apache-2.0
// Normalisation within samples by own loops, on row-major tensors and on those layouts of images in
// which a row is contiguous. The gradients of gain and shift are summed in a fixed number of parts,
// so that they don't depend on the number of threads.
#include "tutti/ops/sample_norm.h"

#include "tutti/kernels/cpu/channel_view.h"
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

struct Rows {
  ops::NormalisedRows rows;
  GainedRow shape{};
  bool center = true;
  float epsilon = 0;

  std::int64_t samples() const { return rows.rows / rows.groups; }
  std::int64_t sample_elements() const { return rows.groups * rows.extent; }
  std::int64_t gains_per_row() const { return shape.blocks * shape.lanes; }
};

// Channels that lie side by side: 1 when row-major, 0 in layouts that are not those of images.
std::int64_t lanes_of(const Value& x) {
  if (x.layout.plain()) return 1;
  const std::optional<ChannelView> view = channel_view(x);
  return view ? view->width : 0;
}

Rows rows_of(const Node& node, const Value& x, std::int64_t gains) {
  Rows result{.rows = ops::normalised_rows("sample_norm", node.settings, x.type.shape, gains),
              .center = node.settings.flag("center"),
              .epsilon = static_cast<float>(node.settings.real("epsilon"))};
  const ops::NormalisedRows& rows = result.rows;
  if (gains == 0 || rows.span == 1) {
    result.shape = {1, 1, rows.extent};
  } else {
    const std::int64_t lanes = lanes_of(x), channels = rows.gains / rows.groups;
    result.shape = {channels / lanes, rows.span, lanes};
  }
  return result;
}

// Whether a row is contiguous, and gains lie along it as GainedRow says.
bool keeps_layout(const Node& node, const Value& x, std::int64_t gains) {
  if (x.layout.plain()) return true;
  const std::int64_t lanes = lanes_of(x), channels = x.type.shape[1];
  const std::int64_t axis = node.settings.integer("axis"), groups = node.settings.integer("groups");
  const bool per_channel = gains == 0 || gains == channels;
  return axis == 1 && per_channel && lanes > 0 && channels % groups == 0 &&
         channels / groups % lanes == 0;
}

std::int64_t gains_of(const Graph& graph, const Node& node, std::size_t first) {
  for (std::size_t k = first; k < node.inputs.size(); ++k)
    if (node.inputs[k] != no_value) return elements(graph.shape(node.inputs[k]));
  return 0;
}

// The elements of gain or shift. Where there is only a shift, no input has its size, so the first
// output behind dx, dgain or dshift, is asked.
std::int64_t gains_of_grad(const Graph& graph, const Node& node) {
  return node.outputs.size() > 1 ? elements(graph.shape(node.outputs[1])) : 0;
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32;
}

NodeLayouts layouts_forward(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  if (!keeps_layout(node, x, gains_of(graph, node, 1))) return {};
  return {{x.layout}, {x.layout}};
}

NodeLayouts layouts_backward(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[1]);
  if (!keeps_layout(node, x, gains_of_grad(graph, node))) return {};
  return {{x.layout, x.layout}, {x.layout}};
}

std::int64_t grain_of(const Rows& rows) { return 1 + 8192 / rows.sample_elements(); }

Kernel make_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  const Rows rows = rows_of(node, graph.value(node.inputs[0]), gains_of(graph, node, 1));
  const bool with_gain = node.inputs.size() > 1 && node.inputs[1] != no_value;
  const bool with_shift = node.inputs.size() > 2 && node.inputs[2] != no_value;
  return [=, threads = context.threads](const KernelArguments& arguments) {
    const auto* x = static_cast<const float*>(arguments.in[0]);
    const auto* gain = with_gain ? static_cast<const float*>(arguments.in[1]) : nullptr;
    const auto* shift = with_shift ? static_cast<const float*>(arguments.in[2]) : nullptr;
    auto* y = static_cast<float*>(arguments.out[0]);
    const auto group = [&](const float* vector, std::int64_t g) {
      return vector == nullptr ? nullptr : vector + g * rows.gains_per_row();
    };
    parallel(rows.samples(), grain_of(rows), threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin * rows.rows.groups; r < end * rows.rows.groups; ++r) {
        const std::int64_t first = r * rows.rows.extent, g = r % rows.rows.groups;
        const Moments moments =
            loops().moments(x + first, rows.rows.extent, rows.center, rows.epsilon);
        loops().sample_norm(rows.shape, moments, x + first, group(gain, g), group(shift, g),
                            y + first);
      }
    });
  };
}

// How many partial sums of dgain and dshift there are, limited so that they take at most a few
// megabytes.
std::int64_t parts_of(const Rows& rows) {
  const std::int64_t gains = std::max<std::int64_t>(rows.rows.gains, 1);
  return std::min(rows.samples(), std::clamp<std::int64_t>((1 << 20) / gains, 2, 32));
}

Rows rows_of_grad(const Graph& graph, const Node& node) {
  return rows_of(node, graph.value(node.inputs[1]), gains_of_grad(graph, node));
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  const Rows rows = rows_of_grad(graph, node);
  return 2 * parts_of(rows) * rows.rows.gains * static_cast<std::int64_t>(sizeof(float));
}

Kernel make_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  const Rows rows = rows_of_grad(graph, node);
  const bool with_gain = node.inputs.size() > 2 && node.inputs[2] != no_value;
  const bool with_shift = node.settings.flag("with_shift");
  const std::int64_t parts = parts_of(rows), gains = rows.rows.gains;
  return [=, threads = context.threads](const KernelArguments& arguments) {
    const auto* dy = static_cast<const float*>(arguments.in[0]);
    const auto* x = static_cast<const float*>(arguments.in[1]);
    const auto* gain = with_gain ? static_cast<const float*>(arguments.in[2]) : nullptr;
    auto* dx = static_cast<float*>(arguments.out[0]);
    auto *gain_sums = static_cast<float*>(arguments.scratch),
         *shift_sums = gain_sums + parts * gains;
    const auto run_part = [&](std::int64_t part) {
      float* dgain = with_gain ? gain_sums + part * gains : nullptr;
      float* dshift = with_shift ? shift_sums + part * gains : nullptr;
      if (with_gain) std::fill_n(dgain, gains, 0.0f);
      if (with_shift) std::fill_n(dshift, gains, 0.0f);
      const std::int64_t begin = rows.samples() * part / parts * rows.rows.groups;
      const std::int64_t end = rows.samples() * (part + 1) / parts * rows.rows.groups;
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t first = r * rows.rows.extent;
        const std::int64_t channel = r % rows.rows.groups * rows.gains_per_row();
        const auto at = [&](auto* vector) { return vector == nullptr ? vector : vector + channel; };
        const Moments moments =
            loops().moments(x + first, rows.rows.extent, rows.center, rows.epsilon);
        loops().sample_norm_grad(rows.shape, moments, rows.center, dy + first, x + first, at(gain),
                                 dx + first, at(dgain), at(dshift));
      }
    };
    const std::int64_t part_elements = rows.sample_elements() * rows.samples() / parts;
    parallel(parts, 1 + 8192 / std::max<std::int64_t>(part_elements, 1), threads,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t part = begin; part < end; ++part) run_part(part);
             });
    parallel(gains, 4096, threads, [&](std::int64_t begin, std::int64_t end) {
      if (with_gain)
        loops().sum_rows(gain_sums + begin, static_cast<float*>(arguments.out[1]) + begin, parts,
                         end - begin, gains);
      if (with_shift)
        loops().sum_rows(shift_sums + begin,
                         static_cast<float*>(arguments.out[with_gain ? 2 : 1]) + begin, parts,
                         end - begin, gains);
    });
  };
}

}  // namespace

Implementation sample_norm() {
  return {.name = "simd",
          .supports = supports,
          .make = make_forward,
          .layouts = layouts_forward,
          .in_place = true};
}

Implementation sample_norm_grad() {
  return {.name = "simd",
          .supports = supports,
          .make = make_backward,
          .layouts = layouts_backward,
          .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
