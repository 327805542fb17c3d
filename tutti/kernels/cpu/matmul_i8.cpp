// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit integers with sums in 32 bits, on row-major operands.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};

Sizes sizes_of(const Graph& graph, const Node& node) {
  const Shape &a = graph.shape(node.inputs[0]), &b = graph.shape(node.inputs[1]);
  return {a[0], b[0], a[1]};
}

onednn::Descriptor describe(const Graph& graph, const Node& node) {
  const auto [m, n, k] = sizes_of(graph, node);
  const auto a = onednn::plain(DType::i8, {m, k});
  const auto b = onednn::strided(DType::i8, {k, n}, {1, k});
  const auto y = onednn::plain(DType::i32, {m, n});
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &a, &b, nullptr, &y) != dnnl_success) return nullptr;
  return onednn::unless_reference(onednn::describe(&operation, onednn::attributes().get()));
}

// Only with VNNI: without it oneDNN adds pairs of products in 16 bits, which saturate.
bool supports(const Graph& graph, const Node& node) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512vnni")) return false;
#endif
  const auto [m, n, k] = sizes_of(graph, node);
  return m > 0 && n > 0 && k > 0 && describe(graph, node) != nullptr;
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return onednn::scratch_bytes(describe(graph, node).get());
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  using onednn::Argument;
  const auto pd = describe(graph, node);
  const auto md = [&](dnnl_query_t what) { return onednn::query(pd.get(), what); };
  return onednn::make_kernel(pd.get(),
                             {{DNNL_ARG_SRC, Argument::input, 0, md(dnnl_query_src_md)},
                              {DNNL_ARG_WEIGHTS, Argument::input, 1, md(dnnl_query_weights_md)},
                              {DNNL_ARG_DST, Argument::output, 0, md(dnnl_query_dst_md)}});
}

// Rows of b are shared out to threads, and each row is used for all rows of a while it is in the
// cache.
Kernel make_by_rows(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [sizes = sizes_of(graph, node), threads = context.threads](const KernelArguments& arguments) {
        const auto [m, n, k] = sizes;
        const auto *a = static_cast<const std::int8_t*>(arguments.in[0]),
                   *b = static_cast<const std::int8_t*>(arguments.in[1]);
        auto* y = static_cast<std::int32_t*>(arguments.out[0]);
        parallel(n, 16, threads, [&, m = m, n = n, k = k](std::int64_t begin, std::int64_t end) {
          for (std::int64_t j = begin; j < end; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              y[i * n + j] = loops().dot_i8(a + i * k, b + j * k, k);
        });
      };
}

}  // namespace

Implementation matmul_i8() {
  return {.name = "onednn", .supports = supports, .make = make, .scratch_bytes = scratch};
}
Implementation matmul_i8_by_rows() {
  return {.name = "simd",
          .supports = [](const Graph&, const Node&) { return true; },
          .make = make_by_rows};
}

}  // namespace tutti::cpu
