// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/convolution/own.h"

#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/shared/epilogue.h"

#include <omp.h>

namespace tutti::cpu {
namespace {

constexpr std::int64_t lanes = 16;

// The layout of y[n][channel][pixel]: row-major, or in blocks of 16 channels.
struct Image {
  std::int64_t n, channels, pixels;
  bool blocked;

  // Calls visit(first element, its channel, number of elements, step of the channel from element to
  // element).
  template <class Visit>
  void for_each_run(int threads, const Visit& visit) const {
    const std::int64_t width = blocked ? lanes : 1, blocks = (channels + width - 1) / width;
    parallel(n * blocks, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t channel = i % blocks * width;
        if (blocked)
          for (std::int64_t p = 0; p < pixels; ++p)
            visit((i * pixels + p) * lanes, channel, std::min(lanes, channels - channel), 1);
        else
          visit(i * pixels, channel, pixels, 0);
      }
    });
  }
};

// What the fuse pass has added behind the convolution.
struct Epilogue {
  bool bias = false, residual = false;
  ops::Activation activation = ops::Activation::none;
  float slope = 0;

  bool empty() const { return !bias && !residual && activation == ops::Activation::none; }
};

void apply(const Epilogue& e, const Image& image, const KernelArguments& arguments, float* y,
           int threads) {
  const auto* bias = e.bias ? static_cast<const float*>(arguments.in[ops::bias_input]) : nullptr;
  const auto* residual =
      e.residual ? static_cast<const float*>(arguments.in[ops::residual_input]) : nullptr;
  image.for_each_run(threads, [&](std::int64_t first, std::int64_t channel, std::int64_t count,
                                  std::int64_t step) {
    float* to = y + first;
    if (bias != nullptr && step == 0)
      for (std::int64_t i = 0; i < count; ++i) to[i] += bias[channel];
    else if (bias != nullptr)
      for (std::int64_t i = 0; i < count; ++i) to[i] += bias[channel + i];
    if (residual != nullptr)
      for (std::int64_t i = 0; i < count; ++i) to[i] += residual[first + i];
    if (e.activation == ops::Activation::relu)
      loops().relu(to, to, count);
    else if (e.activation != ops::Activation::none)
      for (std::int64_t i = 0; i < count; ++i) to[i] = ops::activate(e.activation, to[i], e.slope);
  });
}

// db[o] = Σ dy, in double, channel by channel.
void sum_bias(const Image& image, const float* dy, float* db, int threads) {
  parallel(image.channels, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t blocks = (image.channels + lanes - 1) / lanes;
    for (std::int64_t o = begin; o < end; ++o) {
      double sum = 0;
      for (std::int64_t n = 0; n < image.n; ++n) {
        if (!image.blocked) {
          sum += loops().sum(dy + (n * image.channels + o) * image.pixels, image.pixels);
          continue;
        }
        const float* block = dy + (n * blocks + o / lanes) * image.pixels * lanes;
        for (std::int64_t p = 0; p < image.pixels; ++p)
          sum += static_cast<double>(block[p * lanes + o % lanes]);
      }
      db[o] = static_cast<float>(sum);
    }
  });
}

Layout layout_by(const Type& type, dnnl_format_tag_t tag) {
  dnnl_memory_desc_t md{};
  onednn::check(dnnl_memory_desc_init_by_tag(&md, 4, type.shape.data(), dnnl_f32, tag),
                "dnnl_memory_desc_init_by_tag");
  return onednn::layout_of(md);
}

Operands operands(Direction direction, const KernelArguments& arguments) {
  const auto in = [&](int k) { return static_cast<float*>(arguments.in[k]); };
  auto* out = static_cast<float*>(arguments.out[0]);
  if (direction == Direction::forward) return {in(0), in(1), out};
  if (direction == Direction::input) return {out, in(1), in(0)};
  return {in(0), out, in(1)};
}

}  // namespace

bool is_plane(const Graph& graph, const Node& node) {
  const Type& type = graph.type(node.outputs[0]);
  return type.dtype == DType::f32 && type.shape.size() == 4 && elements(type.shape) > 0 &&
         elements(graph.shape(node.inputs[0])) > 0 && elements(graph.shape(node.inputs[1])) > 0;
}

Sizes sizes_of(const Graph& graph, const Node& node) {
  const ops::Geometry g = ops::geometry_of(graph, node);
  const ops::Window &rows = g.windows[0], &columns = g.windows[1];
  return {.n = g.n,
          .c = g.c,
          .o = g.o,
          .groups = g.groups,
          .h = g.image[0],
          .w = g.image[1],
          .oh = g.pixels[0],
          .ow = g.pixels[1],
          .kh = g.kernel[0],
          .kw = g.kernel[1],
          .stride_h = rows.stride,
          .stride_w = columns.stride,
          .padding_h = rows.padding,
          .padding_w = columns.padding,
          .dilation_h = rows.dilation,
          .dilation_w = columns.dilation};
}

bool own_supports(const OwnMethod& method, Direction direction, const Graph& graph,
                  const Node& node) {
  return is_plane(graph, node) && method.supports(sizes_of(graph, node), direction);
}

bool own_preferred(const OwnMethod& method, Direction direction, const Graph& graph,
                   const Node& node) {
  return method.preferred != nullptr && is_plane(graph, node) &&
         method.preferred(sizes_of(graph, node), direction);
}

std::int64_t own_scratch_bytes(const OwnMethod& method, Direction direction, const Graph& graph,
                               const Node& node) {
  return 4 * method.scratch_floats(sizes_of(graph, node), direction, omp_get_max_threads());
}

NodeLayouts own_layouts(Images images, Direction direction, const Graph& graph, const Node& node) {
  const bool blocked = images == Images::blocked;
  const auto image = [&](ValueId id) {
    return layout_by(graph.type(id), blocked ? dnnl_nChw16c : dnnl_chwn);
  };
  const auto kernel = [&](ValueId id) {
    if (!blocked) return Layout{};
    return layout_by(graph.type(id),
                     direction == Direction::input ? dnnl_OIhw16o16i : dnnl_OIhw16i16o);
  };
  NodeLayouts wanted;
  wanted.inputs.resize(node.inputs.size());
  wanted.outputs.resize(node.outputs.size());
  wanted.inputs[0] = image(node.inputs[0]);
  wanted.inputs[1] =
      direction == Direction::weight ? image(node.inputs[1]) : kernel(node.inputs[1]);
  wanted.outputs[0] =
      direction == Direction::weight ? kernel(node.outputs[0]) : image(node.outputs[0]);
  if (ops::epilogue_input(node, ops::residual_input) != no_value)
    wanted.inputs[ops::residual_input] = wanted.outputs[0];
  return wanted;
}

bool own_fits(Images images, Direction direction, const Graph& graph, const Node& node) {
  const NodeLayouts wanted = own_layouts(images, direction, graph, node);
  const auto all_lie_so = [&](const std::vector<ValueId>& ids, const std::vector<Layout>& layouts) {
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] == no_value) continue;
      const Value& value = graph.value(ids[k]);
      if (!(value.layout == layouts[k]) &&
          !onednn::same_bytes(value.type, value.layout, layouts[k]))
        return false;
    }
    return true;
  };
  return all_lie_so(node.inputs, wanted.inputs) && all_lie_so(node.outputs, wanted.outputs);
}

Kernel own_make(const OwnMethod& method, Direction direction, const Graph& graph, const Node& node,
                const KernelContext&) {
  const Sizes sizes = sizes_of(graph, node);
  const int threads = omp_get_max_threads();  // scratch memory is planned for this many threads
  // With the samples innermost, the batch is one image of n times the pixels.
  const bool one = method.images == Images::chwn;
  const Image image{one ? 1 : sizes.n, sizes.o, (one ? sizes.n : 1) * sizes.pixels(),
                    method.images == Images::blocked};
  if (direction == Direction::input)
    return [=, &method](const KernelArguments& arguments) {
      method.run(sizes, direction, operands(direction, arguments),
                 static_cast<float*>(arguments.scratch), threads);
    };
  if (direction == Direction::weight)
    return [=, &method,
            with_bias = node.settings.flag("with_bias")](const KernelArguments& arguments) {
      const Operands all = operands(direction, arguments);
      method.run(sizes, direction, all, static_cast<float*>(arguments.scratch), threads);
      if (with_bias) sum_bias(image, all.y, static_cast<float*>(arguments.out[1]), threads);
    };
  Epilogue epilogue{ops::epilogue_input(node, ops::bias_input) != no_value,
                    ops::epilogue_input(node, ops::residual_input) != no_value,
                    ops::activation_of(node.settings),
                    static_cast<float>(node.settings.real("slope"))};
  const bool adds_bias = method.finishes && epilogue.bias;
  const bool rectifies =
      method.finishes && !epilogue.residual && epilogue.activation == ops::Activation::relu;
  if (adds_bias) epilogue.bias = false;
  if (rectifies) epilogue.activation = ops::Activation::none;
  return [=, &method](const KernelArguments& arguments) {
    Operands all = operands(direction, arguments);
    if (adds_bias) all.bias = static_cast<const float*>(arguments.in[ops::bias_input]);
    all.relu = rectifies;
    method.run(sizes, direction, all, static_cast<float*>(arguments.scratch), threads);
    if (!epilogue.empty()) apply(epilogue, image, arguments, all.y, threads);
  };
}

}  // namespace tutti::cpu
