// SPDX-License-Identifier: Apache-2.0
// Tensors joined and cut along an axis. Channels of images keep the layout that convolutions gave
// them. They are copied as whole runs of blocks where both sides are aligned to blocks, else pixel
// by pixel.
#include "tutti/kernels/cpu/channel_view.h"
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/ops/shared/axis.h"

#include <algorithm>
#include <cstring>

namespace tutti::cpu {
namespace {

// With less work, starting threads costs more than it saves.
constexpr std::int64_t grain_bytes = 32768;

// Channels that lie side by side: 1 when row-major, 0 in layouts that are not those of images.
std::int64_t block_of(const Value& value) {
  if (value.layout.plain()) return 1;
  const std::optional<ChannelView> view = channel_view(value);
  return view ? view->width : 0;
}

bool along_channels(const Node& node, const Shape& shape) {
  return shape.size() >= 3 && ops::axis_of("concatenate", node.settings, shape) == 1;
}

// Inputs and outputs in the layout of `like` where that has blocks of channels, else row-major.
NodeLayouts layouts_like(const Graph& graph, const Node& node, const Value& like) {
  NodeLayouts wanted;
  if (!along_channels(node, like.type.shape) || block_of(like) <= 1) return wanted;
  for (ValueId id : node.inputs)
    wanted.inputs.push_back(onednn::layout_of(onednn::in_layout_of(like, graph.type(id))));
  wanted.outputs = {onednn::layout_of(onednn::in_layout_of(like, graph.type(node.outputs[0])))};
  return wanted;
}

// The layout that most bytes of the inputs have already.
NodeLayouts layouts_of_most(const Graph& graph, const Node& node) {
  const Value* best = nullptr;
  std::int64_t most = -1;
  for (ValueId candidate : node.inputs) {
    const Value& like = graph.value(candidate);
    std::int64_t bytes = 0;
    for (ValueId id : node.inputs)
      if (graph.value(id).layout.name == like.layout.name) bytes += graph.type(id).bytes();
    if (block_of(like) > 0 && bytes > most) most = bytes, best = &like;
  }
  return best == nullptr ? NodeLayouts{} : layouts_like(graph, node, *best);
}

NodeLayouts layouts_of_input(const Graph& graph, const Node& node) {
  return layouts_like(graph, node, graph.value(node.inputs[0]));
}

// Copies `rows` rows of `bytes` bytes; all members but `rows` are in bytes.
struct RowCopy {
  std::int64_t rows, bytes, from_stride, to_stride, from_begin, to_begin;

  void operator()(const void* from, void* to, int threads) const {
    const std::int64_t pieces = std::max<std::int64_t>(1, bytes / (4 * grain_bytes));
    const std::int64_t grain = 1 + grain_bytes * pieces / std::max<std::int64_t>(1, bytes);
    parallel(rows * pieces, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / pieces, piece = i % pieces;
        const std::int64_t first = bytes * piece / pieces, last = bytes * (piece + 1) / pieces;
        std::memcpy(static_cast<char*>(to) + row * to_stride + to_begin + first,
                    static_cast<const char*>(from) + row * from_stride + from_begin + first,
                    static_cast<std::size_t>(last - first));
      }
    });
  }
};

// Copies `channels` channels of every image between layouts with channels in blocks.
struct ChannelCopy {
  std::int64_t images, pixels, channels;
  std::int64_t from_block, from_channel, from_image;  // in elements, as the next line
  std::int64_t to_block, to_channel, to_image;

  void operator()(const void* from, void* to, int threads) const {
    const auto* x = static_cast<const float*>(from);
    auto* y = static_cast<float*>(to);
    const std::int64_t grain = 1 + grain_bytes / 4 / (channels * pixels);
    parallel(images, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) copy_image(x + n * from_image, y + n * to_image);
    });
  }

 private:
  void copy_image(const float* in, float* out) const {
    for (std::int64_t c = 0; c < channels;) {
      const std::int64_t s = from_channel + c, t = to_channel + c, a = from_block, b = to_block;
      const std::int64_t run = std::min({a - s % a, b - t % b, channels - c});
      const float* source = in + s / a * a * pixels + s % a;
      float* target = out + t / b * b * pixels + t % b;
      for (std::int64_t p = 0; p < pixels; ++p)
        for (std::int64_t i = 0; i < run; ++i) target[p * b + i] = source[p * a + i];
      c += run;
    }
  }
};

// A kernel that copies `channels` positions along the axis, from `from_begin` of x to `to_begin` of
// y.
Kernel make_copy(const Node& node, const Value& x, const Value& y, std::int64_t channels,
                 std::int64_t from_begin, std::int64_t to_begin, int threads) {
  const std::size_t axis = ops::axis_of("concatenate", node.settings, x.type.shape);
  const std::int64_t a = block_of(x), b = block_of(y);
  const bool plain = a == 1 && b == 1;
  const bool aligned =
      a == b && from_begin % a == 0 && to_begin % a == 0 && channels % a == 0 && !plain;
  const std::int64_t unit = bytes_of(x.type.dtype);
  if (plain || aligned) {
    const std::int64_t outer = elements(x.type.shape, 0, axis);
    const std::int64_t inner = unit * elements(x.type.shape, axis + 1, x.type.shape.size());
    const RowCopy copy{.rows = outer,
                       .bytes = channels * inner,
                       .from_stride = x.bytes() / std::max<std::int64_t>(outer, 1),
                       .to_stride = y.bytes() / std::max<std::int64_t>(outer, 1),
                       .from_begin = from_begin * inner,
                       .to_begin = to_begin * inner};
    return
        [=](const KernelArguments& arguments) { copy(arguments.in[0], arguments.out[0], threads); };
  }
  const std::int64_t images = x.type.shape[0];
  const ChannelCopy copy{.images = images,
                         .pixels = elements(x.type.shape, 2, x.type.shape.size()),
                         .channels = channels,
                         .from_block = a,
                         .from_channel = from_begin,
                         .from_image = x.bytes() / unit / images,
                         .to_block = b,
                         .to_channel = to_begin,
                         .to_image = y.bytes() / unit / images};
  return
      [=](const KernelArguments& arguments) { copy(arguments.in[0], arguments.out[0], threads); };
}

Kernel make_zero(const Value& y, int threads) {
  return [bytes = y.bytes(), threads](const KernelArguments& arguments) {
    auto* to = static_cast<char*>(arguments.out[0]);
    parallel(bytes, grain_bytes, threads, [&](std::int64_t begin, std::int64_t end) {
      std::memset(to + begin, 0, static_cast<std::size_t>(end - begin));
    });
  };
}

// Whether the blocks of y have padding, which must be zero.
bool padded(const Value& y) { return y.bytes() > y.type.bytes(); }

Kernel make_concatenate(const Graph& graph, const Node& node, const KernelContext& context) {
  const Value& y = graph.value(node.outputs[0]);
  const std::size_t axis = ops::axis_of("concatenate", node.settings, y.type.shape);
  std::vector<Kernel> copies;
  std::int64_t begin = 0;
  for (ValueId id : node.inputs) {
    const std::int64_t extent = graph.shape(id)[axis];
    copies.push_back(make_copy(node, graph.value(id), y, extent, 0, begin, context.threads));
    begin += extent;
  }
  const Kernel zero = padded(y) ? make_zero(y, context.threads) : Kernel();
  return [copies, zero](const KernelArguments& arguments) {
    if (zero) zero(arguments);
    for (std::size_t k = 0; k < copies.size(); ++k) {
      KernelArguments one = arguments;
      one.in = arguments.in + k;
      copies[k](one);
    }
  };
}

Kernel make_slice(const Graph& graph, const Node& node, const KernelContext& context) {
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  const std::int64_t begin = node.settings.integer("begin"), end = node.settings.integer("end");
  const Kernel copy = make_copy(node, x, y, end - begin, begin, 0, context.threads);
  if (!padded(y)) return copy;
  return [zero = make_zero(y, context.threads), copy](const KernelArguments& arguments) {
    zero(arguments);
    copy(arguments);
  };
}

Kernel make_slice_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  const Value &dy = graph.value(node.inputs[0]), &dx = graph.value(node.outputs[0]);
  const std::size_t axis = ops::axis_of("slice_grad", node.settings, dy.type.shape);
  return [zero = make_zero(dx, context.threads),
          copy = make_copy(node, dy, dx, dy.type.shape[axis], 0, node.settings.integer("begin"),
                           context.threads)](const KernelArguments& arguments) {
    zero(arguments);
    copy(arguments);
  };
}

bool supports(const Graph& graph, const Node& node) {
  return elements(graph.shape(node.outputs[0])) > 0;
}

}  // namespace

Implementation concatenate() {
  return {
      .name = "copy", .supports = supports, .make = make_concatenate, .layouts = layouts_of_most};
}
Implementation slice() {
  return {.name = "copy", .supports = supports, .make = make_slice, .layouts = layouts_of_input};
}
Implementation slice_grad() {
  return {
      .name = "copy", .supports = supports, .make = make_slice_grad, .layouts = layouts_of_input};
}

}  // namespace tutti::cpu
