// SPDX-License-Identifier: Apache-2.0
// A change of layout by oneDNN. Where one side is plain, it is described with the dimensions of the
// other side (grouped weights).
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/kernels/cpu/stored.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

dnnl_memory_desc_t side(const Value& value, const Value& other) {
  if (!value.layout.plain() || other.layout.plain()) return onednn::as_it_lies(value);
  const dnnl_memory_desc_t shaped = onednn::as_it_lies(other);
  return onednn::plain(value.type.dtype, Shape(shaped.dims, shaped.dims + shaped.ndims));
}

onednn::Descriptor describe(const Graph& graph, const Node& node) {
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  return onednn::describe_reorder(side(x, y), side(y, x));
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype != DType::f64;
}

// A reorder wants its input and its output in the layouts that they have.
NodeLayouts layouts(const Graph& graph, const Node& node) {
  return {{graph.value(node.inputs[0]).layout}, {graph.value(node.outputs[0]).layout}};
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  return onednn::make_reorder(describe(graph, node));
}

// The number of channels in a block: 16 for "nChw16c", all for channels last, 0 for other layouts.
std::int64_t block_of(const Value& value) {
  if (value.type.dtype != DType::f32 || value.type.shape.size() != 4) return 0;
  if (value.layout.name == "nChw16c") return 16;
  if (value.layout.name == "nChw8c") return 8;
  return value.layout.name == "nhwc" ? value.type.shape[1] : 0;
}

bool supports_channels(const Graph& graph, const Node& node) {
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  return block_of(x) > 0 && block_of(y) > 0;
}

// Copies runs of channels; the padding of a block stays zero.
Kernel make_channels(const Graph& graph, const Node& node, const KernelContext& context) {
  const Value &from = graph.value(node.inputs[0]), &to = graph.value(node.outputs[0]);
  const std::int64_t a = block_of(from), b = block_of(to), channels = from.type.shape[1];
  const std::int64_t pixels = elements(from.type.shape, 2, 4), images = from.type.shape[0];
  const std::int64_t from_image = from.bytes() / 4 / images, to_image = to.bytes() / 4 / images;
  const bool padded = channels % b != 0;
  return [=, threads = context.threads](const KernelArguments& arguments) {
    const auto* x = static_cast<const float*>(arguments.in[0]);
    auto* y = static_cast<float*>(arguments.out[0]);
    parallel(images, 1 + 8192 / to_image, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const float* in = x + n * from_image;
        float* out = y + n * to_image;
        if (padded) std::fill_n(out, to_image, 0.0f);
        for (std::int64_t c = 0; c < channels;) {
          const std::int64_t run_length = std::min({a - c % a, b - c % b, channels - c});
          const float* source = in + c / a * a * pixels + c % a;
          float* target = out + c / b * b * pixels + c % b;
          for (std::int64_t p = 0; p < pixels; ++p)
            for (std::int64_t i = 0; i < run_length; ++i) target[p * b + i] = source[p * a + i];
          c += run_length;
        }
      }
    });
  };
}

// IEEE half to float or back in the same order of elements; oneDNN has only its slow reference for
// half.
bool supports_convert(const Graph& graph, const Node& node) {
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  const Format from = format_of(x), to = format_of(y);
  if (from == to || from == Format::bf16 || to == Format::bf16) return false;
  if (x.type.dtype != DType::f32) return false;
  const dnnl_memory_desc_t a = onednn::stored_as(dnnl_f32, onednn::as_it_lies(x));
  const dnnl_memory_desc_t b = onednn::stored_as(dnnl_f32, onednn::as_it_lies(y));
  return dnnl_memory_desc_equal(&a, &b) != 0;
}

Kernel make_convert(const Graph& graph, const Node& node, const KernelContext& context) {
  const Value& to = graph.value(node.outputs[0]);
  const bool widens = format_of(to) == Format::f32;
  const std::int64_t count = to.bytes() / (widens ? 4 : 2);
  return [=, threads = context.threads](const KernelArguments& arguments) {
    parallel(count, 16384, threads, [&](std::int64_t begin, std::int64_t end) {
      if (widens)
        widen(Format::fp16, static_cast<const std::uint16_t*>(arguments.in[0]) + begin,
              static_cast<float*>(arguments.out[0]) + begin, end - begin);
      else
        narrow(Format::fp16, static_cast<const float*>(arguments.in[0]) + begin,
               static_cast<std::uint16_t*>(arguments.out[0]) + begin, end - begin);
    });
  };
}

}  // namespace

Implementation convert() {
  return {.name = "convert",
          .supports = supports_convert,
          .make = make_convert,
          .layouts = layouts,
          .bf16 = true,
          .fp16 = true};
}

Implementation reorder_channels() {
  return {.name = "own", .supports = supports_channels, .make = make_channels, .layouts = layouts};
}

Implementation reorder() {
  return {.name = "onednn",
          .supports = supports,
          .make = make,
          .layouts = layouts,
          .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
