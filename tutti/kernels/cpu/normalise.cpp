// SPDX-License-Identifier: Apache-2.0
// Batch normalisation on whatever layout x has. Each of the four kernels reads the images once: the
// sums, the normalisation, and the same two for the gradient. Sums are made in double for chunks of
// samples, which are added in order, so results do not depend on the number of threads.
#include "tutti/ops/normalise.h"

#include "tutti/kernels/cpu/channel_view.h"
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/stored.h"
#include "tutti/ops/shared/activation.h"
#include "tutti/ops/shared/channels.h"
#include "tutti/ops/shared/doubles.h"

#include <cmath>

namespace tutti::cpu {
namespace {

// With less work, starting threads costs more than it saves.
constexpr std::int64_t grain_elements = 8192;

// What the four kernels share: the view of x, its chunks of samples, and how their tiles (one block
// of channels of one chunk) are shared out to threads.
struct Plan {
  ChannelView view;
  std::vector<Chunk> chunks;
  std::int64_t groups = 1;
  double epsilon = 0;
  bool relu = false;
  Format format = Format::f32;  // format of the images
  int threads = 1;

  std::int64_t tiles() const { return static_cast<std::int64_t>(chunks.size()) * view.blocks; }
  std::int64_t grain() const {
    const std::int64_t elements = view.samples * view.rows * view.padded();
    return std::max<std::int64_t>(1,
                                  grain_elements * tiles() / std::max<std::int64_t>(elements, 1));
  }

  // Calls visit(offset of the first element, rows, chunk, block) for every stretch of rows; a
  // stretch in 16 bits is not longer than `piece_elements`.
  template <class Visit>
  void for_tiles(const Visit& visit) const {
    parallel(tiles(), grain(), threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        const auto c = static_cast<std::size_t>(t / view.blocks);
        const std::int64_t block = t % view.blocks;
        const Chunk& chunk = chunks[c];
        const std::int64_t start = block * view.block_stride;
        const auto stretch = [&](std::int64_t at, std::int64_t rows) {
          for_pieces(format, 0, rows, piece_elements / view.width,
                     [&](std::int64_t first, std::int64_t last) {
                       visit(at + first * view.row_stride, last - first, c, block);
                     });
        };
        if (view.continuous()) {
          stretch(chunk.first * view.sample_stride, (chunk.last - chunk.first) * view.rows);
          continue;
        }
        for (std::int64_t n = chunk.first; n < chunk.last; ++n)
          stretch(n * view.sample_stride + start, view.rows);
      }
    });
  }
};

Plan plan_of(const Graph& graph, const Node& node, std::size_t x, const KernelContext& context) {
  const Settings& settings = node.settings;
  const std::int64_t group = settings.integer("group");
  const ChannelView view = *channel_view(graph.value(node.inputs[x]));
  Plan plan{.view = view,
            .chunks = chunks_of(view.samples, group),
            .groups = group == 0 ? 1 : (view.samples + group - 1) / group,
            .format = format_of(graph.value(node.inputs[x])),
            .threads = context.threads};
  if (settings.has("epsilon")) plan.epsilon = settings.real("epsilon");
  if (settings.has("activation")) plan.relu = ops::activation_of(settings) == ops::Activation::relu;
  return plan;
}

// The factors of one block of channels. `factors` has `count` rows of padded() channels for each
// group.
const float* of_block(const Plan& plan, const float* factors, int count, std::size_t chunk,
                      std::int64_t block) {
  return factors + plan.chunks[chunk].group * count * plan.view.padded() + block * plan.view.width;
}

bool known_layout(const Graph& graph, ValueId x) {
  const auto view = channel_view(graph.value(x));
  return view && (view->width <= piece_elements || !is_half(graph.value(x)));
}

bool none_or_relu(const Node& node) {
  const ops::Activation activation = ops::activation_of(node.settings);
  return activation == ops::Activation::none || activation == ops::Activation::relu;
}

// Values of the type of x get the layout of x; everything else is plain.
NodeLayouts follow(const Graph& graph, const Node& node, std::size_t x) {
  const Value& image = graph.value(node.inputs[x]);
  NodeLayouts layouts;
  const auto layout = [&](ValueId id) {
    return id != no_value && graph.type(id) == image.type ? image.layout : Layout{};
  };
  for (ValueId id : node.inputs) layouts.inputs.push_back(layout(id));
  for (ValueId id : node.outputs) layouts.outputs.push_back(layout(id));
  return layouts;
}

std::int64_t sums_scratch(const Graph& graph, const Node& node, std::size_t x) {
  const ChannelView view = *channel_view(graph.value(node.inputs[x]));
  const auto chunks = chunks_of(view.samples, node.settings.integer("group"));
  return static_cast<std::int64_t>(chunks.size() * sizeof(double)) * 2 * view.padded();
}

// Adds the chunks' pairs of sums, in order, to sums[g,3,c].
void gather_sums(const Plan& plan, const double* partial, double* sums) {
  const std::int64_t channels = plan.view.channels, padded = plan.view.padded();
  std::fill_n(sums, plan.groups * ops::sum_rows * channels, 0.0);
  for (std::size_t k = 0; k < plan.chunks.size(); ++k) {
    const Chunk& chunk = plan.chunks[k];
    const double* from = partial + static_cast<std::int64_t>(k) * 2 * padded;
    double* to = sums + chunk.group * ops::sum_rows * channels;
    const auto count = static_cast<double>((chunk.last - chunk.first) * plan.view.rows);
    for (std::int64_t c = 0; c < channels; ++c) {
      to[ops::first_sum * channels + c] += from[c];
      to[ops::second_sum * channels + c] += from[padded + c];
      to[ops::sum_count * channels + c] += count;
    }
  }
}

Kernel make_channel_sums(const Graph& graph, const Node& node, const KernelContext& context) {
  return [plan = plan_of(graph, node, 0, context)](const KernelArguments& arguments) {
    const Source x(arguments.in[0], plan.format);
    auto* partial = static_cast<double*>(arguments.scratch);
    const std::int64_t padded = plan.view.padded(), width = plan.view.width;
    std::fill_n(partial, static_cast<std::int64_t>(plan.chunks.size()) * 2 * padded, 0.0);
    plan.for_tiles([&](std::int64_t at, std::int64_t rows, std::size_t chunk, std::int64_t block) {
      Piece piece;
      double* own = partial + static_cast<std::int64_t>(chunk) * 2 * padded + block * width;
      loops().channel_sums(x.floats(at, rows * width, piece), rows, width, own, own + padded);
    });
    gather_sums(plan, partial, static_cast<double*>(arguments.out[0]));
  };
}

// The rows of factors are mean, scale and shift of y = (x − mean) · scale + shift. Factors of
// padding channels are zero, so that the padding of y is zero.
constexpr int forward_factors = 3;

std::int64_t factor_floats(const Graph& graph, const Node& node, std::size_t x, int count) {
  const ChannelView view = *channel_view(graph.value(node.inputs[x]));
  const std::int64_t group = node.settings.integer("group");
  const std::int64_t groups = group == 0 ? 1 : (view.samples + group - 1) / group;
  return groups * count * view.padded();
}

void fill_forward(const Plan& plan, const float* mean, const float* variance, const float* gamma,
                  const float* beta, float* factors, std::int64_t stride) {
  for (std::int64_t g = 0; g < plan.groups; ++g)
    for (std::int64_t c = 0; c < plan.view.channels; ++c) {
      const std::int64_t i = g * plan.view.channels + c;
      float* own = factors + g * stride + c;
      own[0] = mean[i];
      own[plan.view.padded()] =
          static_cast<float>(static_cast<double>(gamma[c]) /
                             std::sqrt(static_cast<double>(variance[i]) + plan.epsilon));
      own[2 * plan.view.padded()] = beta[c];
    }
}

Kernel make_normalise(const Graph& graph, const Node& node, const KernelContext& context) {
  const bool residual =
      node.inputs.size() > ops::normalise_residual && node.inputs[ops::normalise_residual] >= 0;
  return [plan = plan_of(graph, node, 0, context), residual](const KernelArguments& arguments) {
    const auto in = [&](std::size_t k) { return static_cast<const float*>(arguments.in[k]); };
    auto* factors = static_cast<float*>(arguments.scratch);
    const std::int64_t padded = plan.view.padded();
    std::fill_n(factors, plan.groups * forward_factors * padded, 0.0f);
    fill_forward(plan, in(1), in(2), in(3), in(4), factors, forward_factors * padded);
    const Source x(arguments.in[0], plan.format);
    const Source added(residual ? arguments.in[ops::normalise_residual] : nullptr, plan.format);
    const Target y(arguments.out[0], plan.format);
    plan.for_tiles([&](std::int64_t at, std::int64_t rows, std::size_t chunk, std::int64_t block) {
      Piece piece_x, piece_added;
      const std::int64_t n = rows * plan.view.width;
      const float* own = of_block(plan, factors, forward_factors, chunk, block);
      loops().normalise(x.floats(at, n, piece_x), added.floats(at, n, piece_added),
                        y.floats(at, piece_x), rows, plan.view.width, own, own + padded,
                        own + 2 * padded, plan.relu);
      y.store(at, n, piece_x);
    });
  };
}

Kernel make_normalise_sums(const Graph& graph, const Node& node, const KernelContext& context) {
  return [plan = plan_of(graph, node, 1, context)](const KernelArguments& arguments) {
    const auto in = [&](std::size_t k) { return static_cast<const float*>(arguments.in[k]); };
    const std::int64_t padded = plan.view.padded(), width = plan.view.width;
    const auto chunks = static_cast<std::int64_t>(plan.chunks.size());
    auto* partial = static_cast<double*>(arguments.scratch);
    auto* factors = reinterpret_cast<float*>(partial + chunks * 2 * padded);
    std::fill_n(partial, chunks * 2 * padded, 0.0);
    std::fill_n(factors, plan.groups * forward_factors * padded, 0.0f);
    if (plan.relu)
      fill_forward(plan, in(2), in(3), in(4), in(5), factors, forward_factors * padded);
    else
      for (std::int64_t g = 0; g < plan.groups; ++g)
        std::copy_n(in(2) + g * plan.view.channels, plan.view.channels,
                    factors + g * forward_factors * padded);
    const Source dy(arguments.in[0], plan.format), x(arguments.in[1], plan.format);
    plan.for_tiles([&](std::int64_t at, std::int64_t rows, std::size_t chunk, std::int64_t block) {
      Piece piece_dy, piece_x;
      const std::int64_t n = rows * width;
      const float* own = of_block(plan, factors, forward_factors, chunk, block);
      double* sums = partial + static_cast<std::int64_t>(chunk) * 2 * padded + block * width;
      loops().normalise_sums(dy.floats(at, n, piece_dy), x.floats(at, n, piece_x), rows, width, own,
                             own + padded, own + 2 * padded, plan.relu, sums, sums + padded);
    });
    auto* sums = static_cast<double*>(arguments.out[0]);
    gather_sums(plan, partial, sums);
    // Σdy (x − mean) becomes Σdy x̂.
    const std::int64_t channels = plan.view.channels;
    for (std::int64_t g = 0; g < plan.groups; ++g)
      for (std::int64_t c = 0; c < channels; ++c)
        sums[(g * ops::sum_rows + ops::second_sum) * channels + c] /=
            std::sqrt(static_cast<double>(in(3)[g * channels + c]) + plan.epsilon);
  };
}

// The rows of factors of the gradient are the three above, then slope and offset of
// dx = scale · dy + slope · (x − mean) + offset.
constexpr int backward_factors = 5;

Kernel make_normalise_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  return [plan = plan_of(graph, node, 1, context),
          sums_type = graph.type(node.inputs[6]).dtype](const KernelArguments& arguments) {
    const auto in = [&](std::size_t k) { return static_cast<const float*>(arguments.in[k]); };
    const ops::Doubles sums({sums_type, {}, arguments.in[6]});
    const std::int64_t padded = plan.view.padded(), channels = plan.view.channels;
    auto* factors = static_cast<float*>(arguments.scratch);
    std::fill_n(factors, plan.groups * backward_factors * padded, 0.0f);
    fill_forward(plan, in(2), in(3), in(4), in(5), factors, backward_factors * padded);
    for (std::int64_t g = 0; g < plan.groups; ++g)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t first = g * ops::sum_rows * channels + c;
        const double count = sums[first + ops::sum_count * channels];
        const double deviation =
            std::sqrt(static_cast<double>(in(3)[g * channels + c]) + plan.epsilon);
        const double scale = static_cast<double>(in(4)[c]) / deviation;
        float* own = factors + g * backward_factors * padded + c;
        own[3 * padded] = static_cast<float>(-scale * sums[first + ops::second_sum * channels] /
                                             (deviation * count));
        own[4 * padded] = static_cast<float>(-scale * sums[first] / count);
      }
    const Source dy(arguments.in[0], plan.format), x(arguments.in[1], plan.format);
    const Target dx(arguments.out[0], plan.format);
    plan.for_tiles([&](std::int64_t at, std::int64_t rows, std::size_t chunk, std::int64_t block) {
      Piece piece_dy, piece_x;
      const std::int64_t n = rows * plan.view.width;
      const float* own = of_block(plan, factors, backward_factors, chunk, block);
      loops().normalise_grad(dy.floats(at, n, piece_dy), x.floats(at, n, piece_x),
                             dx.floats(at, piece_dy), rows, plan.view.width, own, padded,
                             plan.relu);
      dx.store(at, n, piece_dy);
    });
  };
}

constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

Implementation channel_sums() {
  return {.name = "simd",
          .supports = [](const Graph& graph,
                         const Node& node) { return known_layout(graph, node.inputs[0]); },
          .make = make_channel_sums,
          .layouts = [](const Graph& graph, const Node& node) { return follow(graph, node, 0); },
          .scratch_bytes = [](const Graph& graph,
                              const Node& node) { return sums_scratch(graph, node, 0); },
          .bf16 = true,
          .fp16 = true};
}

Implementation normalise() {
  return {.name = "simd",
          .supports =
              [](const Graph& graph, const Node& node) {
                return known_layout(graph, node.inputs[0]) && none_or_relu(node);
              },
          .make = make_normalise,
          .layouts = [](const Graph& graph, const Node& node) { return follow(graph, node, 0); },
          .scratch_bytes =
              [](const Graph& graph, const Node& node) {
                return float_bytes * factor_floats(graph, node, 0, forward_factors);
              },
          .in_place = true,
          .bf16 = true,
          .fp16 = true};
}

Implementation normalise_sums() {
  return {.name = "simd",
          .supports =
              [](const Graph& graph, const Node& node) {
                return known_layout(graph, node.inputs[1]) && none_or_relu(node);
              },
          .make = make_normalise_sums,
          .layouts = [](const Graph& graph, const Node& node) { return follow(graph, node, 1); },
          .scratch_bytes =
              [](const Graph& graph, const Node& node) {
                return sums_scratch(graph, node, 1) +
                       float_bytes * factor_floats(graph, node, 1, forward_factors);
              },
          .bf16 = true,
          .fp16 = true};
}

Implementation normalise_grad() {
  return {.name = "simd",
          .supports =
              [](const Graph& graph, const Node& node) {
                return known_layout(graph, node.inputs[1]) && none_or_relu(node);
              },
          .make = make_normalise_grad,
          .layouts = [](const Graph& graph, const Node& node) { return follow(graph, node, 1); },
          .scratch_bytes =
              [](const Graph& graph, const Node& node) {
                return float_bytes * factor_floats(graph, node, 1, backward_factors);
              },
          .in_place = true,
          .bf16 = true,
          .fp16 = true};
}

}  // namespace tutti::cpu
