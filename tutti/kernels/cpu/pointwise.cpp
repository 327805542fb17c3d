// SPDX-License-Identifier: Apache-2.0
// Point-wise operators on whatever layout their inputs have, as long as all inputs have the same
// one. The operators map zero to zero, so the padding of blocked layouts stays zero.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/stored.h"
#include "tutti/ops/dropout.h"

#include <cstring>

namespace tutti::cpu {
namespace {

// With fewer elements, starting threads costs more than it saves.
constexpr std::int64_t grain = 8192;

bool floats(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32;
}

// The number of elements, padding included, and their format.
struct Extent {
  std::int64_t n;
  Format format;
  int threads;

  Extent(const Graph& graph, const Node& node, const KernelContext& context)
      : n(graph.value(node.outputs[0]).bytes()),
        format(format_of(graph.value(node.outputs[0]))),
        threads(context.threads) {
    n /= format == Format::f32 ? 4 : 2;
  }

  // Calls visit(first, count) on stretches; in 16 bits they are no longer than `piece_elements`.
  template <class Visit>
  void for_stretches(const Visit& visit) const {
    parallel(n, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      for_pieces(format, begin, end, piece_elements,
                 [&](std::int64_t first, std::int64_t last) { visit(first, last - first); });
    });
  }
};

// All values lie like the last input: a gradient like the kept activation, a sum like its second
// summand.
NodeLayouts follow_last(const Graph& graph, const Node& node) {
  const Layout layout = graph.value(node.inputs.back()).layout;
  return {std::vector<Layout>(node.inputs.size(), layout), {layout}};
}

using Unary = void (*)(const float*, float*, std::int64_t);
using Binary = void (*)(const float*, const float*, float*, std::int64_t);

template <Unary Loops::*loop>
Kernel make_unary(const Graph& graph, const Node& node, const KernelContext& context) {
  return [extent = Extent(graph, node, context),
          body = loops().*loop](const KernelArguments& arguments) {
    const Source x(arguments.in[0], extent.format);
    const Target y(arguments.out[0], extent.format);
    extent.for_stretches([&](std::int64_t at, std::int64_t n) {
      Piece piece;
      body(x.floats(at, n, piece), y.floats(at, piece), n);
      y.store(at, n, piece);
    });
  };
}

template <Binary Loops::*loop>
Kernel make_binary(const Graph& graph, const Node& node, const KernelContext& context) {
  return [extent = Extent(graph, node, context),
          body = loops().*loop](const KernelArguments& arguments) {
    const Source a(arguments.in[0], extent.format), b(arguments.in[1], extent.format);
    const Target y(arguments.out[0], extent.format);
    extent.for_stretches([&](std::int64_t at, std::int64_t n) {
      Piece piece_a, piece_b;
      body(a.floats(at, n, piece_a), b.floats(at, n, piece_b), y.floats(at, piece_a), n);
      y.store(at, n, piece_a);
    });
  };
}

Kernel make_scale(const Graph& graph, const Node& node, const KernelContext& context) {
  return [extent = Extent(graph, node, context),
          factor =
              static_cast<float>(node.settings.real("factor"))](const KernelArguments& arguments) {
    const Source x(arguments.in[0], extent.format);
    const Target y(arguments.out[0], extent.format);
    extent.for_stretches([&](std::int64_t at, std::int64_t n) {
      Piece piece;
      loops().scale(x.floats(at, n, piece), factor, y.floats(at, piece), n);
      y.store(at, n, piece);
    });
  };
}

Kernel make_copy(const Graph& graph, const Node& node, const KernelContext& context) {
  return [bytes = graph.value(node.outputs[0]).bytes(),
          threads = context.threads](const KernelArguments& arguments) {
    if (arguments.in[0] == arguments.out[0]) return;
    const auto* x = static_cast<const std::byte*>(arguments.in[0]);
    auto* y = static_cast<std::byte*>(arguments.out[0]);
    parallel(bytes, grain * 4, threads, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(y + begin, x + begin, static_cast<std::size_t>(end - begin));
    });
  };
}

Kernel make_dropout(const Graph& graph, const Node& node, const KernelContext& context) {
  return [n = elements(graph.shape(node.outputs[0])), shape = graph.shape(node.outputs[0]),
          settings = node.settings, origin = node.origin,
          threads = context.threads](const KernelArguments& arguments) {
    const ops::DropoutMask mask = ops::dropout_mask(settings, shape, *arguments.step, origin);
    const auto* x = static_cast<const float*>(arguments.in[0]);
    auto* y = static_cast<float*>(arguments.out[0]);
    parallel(n, grain, threads, [&](std::int64_t begin, std::int64_t end) {
      loops().dropout(x + begin, y + begin, end - begin, mask.key,
                      mask.first + static_cast<std::uint64_t>(begin), mask.threshold,
                      static_cast<float>(mask.factor));
    });
  };
}

bool any_type(const Graph&, const Node&) { return true; }

Implementation pointwise(Kernel (*make)(const Graph&, const Node&, const KernelContext&)) {
  return {.name = "simd",
          .supports = floats,
          .make = make,
          .layouts = follow_last,
          .in_place = true,
          .bf16 = true,
          .fp16 = true};
}

}  // namespace

Implementation relu() { return pointwise(make_unary<&Loops::relu>); }
Implementation relu_grad() { return pointwise(make_binary<&Loops::relu_grad>); }
Implementation tanh_grad() { return pointwise(make_binary<&Loops::tanh_grad>); }
Implementation sigmoid_grad() { return pointwise(make_binary<&Loops::sigmoid_grad>); }
Implementation add() { return pointwise(make_binary<&Loops::add>); }
Implementation multiply() { return pointwise(make_binary<&Loops::multiply>); }
Implementation scale() { return pointwise(make_scale); }

Implementation copy() {
  return {.name = "memcpy",
          .supports = any_type,
          .make = make_copy,
          .layouts = follow_last,
          .in_place = true,
          .bf16 = true,
          .fp16 = true};
}

Implementation dropout() {
  return {.name = "simd", .supports = floats, .make = make_dropout, .in_place = true};
}

}  // namespace tutti::cpu
