// SPDX-License-Identifier: Apache-2.0
// Biases that were not fused, and their gradients: along the last axis of a matrix, and along the
// channels of an image in the layout that it has.
#include "tutti/kernels/cpu/channel_view.h"
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/axis.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

// A tensor as samples, each [blocks][repeats][lanes], with an element of b for each of blocks ×
// lanes.
struct Channels {
  std::int64_t samples = 0;
  GainedRow row{};

  std::int64_t sample_elements() const { return row.blocks * row.repeats * row.lanes; }
};

// x as such a tensor; 0 blocks where the axis does not fill whole blocks of its layout.
Channels channels_of(const Node& node, const Value& x) {
  const std::size_t axis = ops::axis_of("bias", node.settings, x.type.shape);
  if (x.layout.plain()) {
    const ops::AxisView view = ops::view_along(x.type.shape, axis);
    if (view.inner == 1) return {1, {1, view.outer, view.extent}};
    return {view.outer, {view.extent, view.inner, 1}};
  }
  const std::optional<ChannelView> view = channel_view(x);
  if (axis != 1 || !view || view->padded() != view->channels) return {};
  if (view->continuous()) return {1, {1, view->samples * view->rows, view->width}};
  return {view->samples, {view->blocks, view->rows, view->width}};
}

bool supports(const Graph& graph, const Node& node) {
  const Type& x = graph.type(node.inputs[0]);
  return x.dtype == DType::f32 && elements(x.shape) > 0;
}

NodeLayouts layouts(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  if (channels_of(node, x).row.blocks == 0) return {};
  return {{x.layout}, {x.layout}};
}
NodeLayouts layouts_grad(const Graph& graph, const Node& node) {
  return {layouts(graph, node).inputs, {}};
}

Kernel make_bias(const Graph& graph, const Node& node, const KernelContext& context) {
  const Channels channels = channels_of(node, graph.value(node.inputs[0]));
  return [=, threads = context.threads](const KernelArguments& arguments) {
    const auto* x = static_cast<const float*>(arguments.in[0]);
    const auto* b = static_cast<const float*>(arguments.in[1]);
    auto* y = static_cast<float*>(arguments.out[0]);
    const GainedRow& row = channels.row;
    if (channels.samples == 1 && row.blocks == 1) {
      parallel(row.repeats, 1 + 8192 / row.lanes, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 loops().add_row(x + begin * row.lanes, b, y + begin * row.lanes, end - begin,
                                 row.lanes);
               });
      return;
    }
    const std::int64_t count = channels.sample_elements();
    parallel(channels.samples, 1 + 8192 / count, threads,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t n = begin; n < end; ++n)
                 loops().sample_norm(row, {0, 1}, x + n * count, nullptr, b, y + n * count);
             });
  };
}

// The elements of db that belong to block `block`: sums over all samples.
void sum_block(const Channels& channels, std::int64_t block, const float* dy, float* db) {
  const GainedRow& row = channels.row;
  constexpr std::int64_t most = 16;
  double total[most] = {};
  for (std::int64_t n = 0; n < channels.samples; ++n) {
    const float* from = dy + n * channels.sample_elements() + block * row.repeats * row.lanes;
    float sum[most];
    if (row.lanes == 1)
      sum[0] = static_cast<float>(loops().sum(from, row.repeats));
    else
      loops().sum_rows(from, sum, row.repeats, row.lanes, row.lanes);
    for (std::int64_t i = 0; i < row.lanes; ++i) total[i] += static_cast<double>(sum[i]);
  }
  for (std::int64_t i = 0; i < row.lanes; ++i)
    db[block * row.lanes + i] = static_cast<float>(total[i]);
}

Kernel make_bias_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  const Channels channels = channels_of(node, graph.value(node.inputs[0]));
  return [=, threads = context.threads](const KernelArguments& arguments) {
    const auto* dy = static_cast<const float*>(arguments.in[0]);
    auto* db = static_cast<float*>(arguments.out[0]);
    const GainedRow& row = channels.row;
    if (channels.samples == 1 && row.blocks == 1) {
      const std::int64_t grain = std::max<std::int64_t>(64, (16384 / row.repeats + 63) / 64 * 64);
      parallel(row.lanes, grain, threads, [&](std::int64_t begin, std::int64_t end) {
        loops().sum_rows(dy + begin, db + begin, row.repeats, end - begin, row.lanes);
      });
      return;
    }
    const std::int64_t per_block = channels.samples * row.repeats * row.lanes;
    parallel(row.blocks, 1 + 8192 / per_block, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block) sum_block(channels, block, dy, db);
    });
  };
}

}  // namespace

Implementation bias() {
  return {.name = "simd",
          .supports = supports,
          .make = make_bias,
          .layouts = layouts,
          .in_place = true};
}
Implementation bias_grad() {
  return {.name = "simd", .supports = supports, .make = make_bias_grad, .layouts = layouts_grad};
}

}  // namespace tutti::cpu
