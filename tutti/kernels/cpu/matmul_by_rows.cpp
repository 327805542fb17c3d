// SPDX-License-Identifier: Apache-2.0
// Weight gradients dyᵀx cut by rows, one part per thread: the update then finds each part of the
// gradient in the cache of the thread that made it. Left to itself oneDNN sometimes cuts by
// columns, and MLP's update takes four times as long. A part is a primitive of one thread, run
// inside the team's parallel region.
#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/primitive.h"
#include "tutti/ops/shared/epilogue.h"

#include <omp.h>

#include <cstring>

namespace tutti::cpu {
namespace {

constexpr std::int64_t fewest_rows = 128;  // fewest rows of a part; smaller parts are slow

struct Product {
  std::int64_t parts, rows, columns, inner;  // rows of one part
  bool transpose_b;
};

Product product_of(const Graph& graph, const Node& node) {
  const Shape &a = graph.shape(node.inputs[0]), &y = graph.shape(node.outputs[0]);
  const std::int64_t parts = omp_get_max_threads();
  return {parts, y[0] / parts, y[1], a[0], node.settings.flag("transpose_b")};
}

// While a OneThread exists, primitives are made for one thread: oneDNN fixes the number of threads
// when a primitive is made.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The primitive of one part. Descriptor and primitive are made while a OneThread exists.
onednn::Descriptor describe(const Product& p) {
  const auto a = onednn::strided(DType::f32, {p.rows, p.inner}, {1, p.rows});
  const auto b = p.transpose_b ? onednn::strided(DType::f32, {p.inner, p.columns}, {1, p.inner})
                               : onednn::plain(DType::f32, {p.inner, p.columns});
  const auto y = onednn::plain(DType::f32, {p.rows, p.columns});
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &a, &b, nullptr, &y) != dnnl_success) return nullptr;
  return onednn::unless_reference(onednn::describe(&operation, onednn::attributes().get()));
}

bool supports(const Graph& graph, const Node& node) {
  const Type& y = graph.type(node.outputs[0]);
  const std::int64_t threads = omp_get_max_threads();
  if (y.dtype != DType::f32 || y.shape.size() != 2 || !node.settings.flag("transpose_a") ||
      node.settings.text("activation") != "none" ||
      ops::epilogue_input(node, ops::bias_input) != no_value ||
      ops::epilogue_input(node, ops::residual_input) != no_value || threads < 2 ||
      y.shape[0] % threads != 0 || y.shape[0] / threads < fewest_rows || elements(y.shape) == 0 ||
      graph.shape(node.inputs[0])[0] == 0)
    return false;
  const Product product = product_of(graph, node);
  const OneThread one;
  return describe(product) != nullptr;
}

std::int64_t in_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The scratch memory of one part: its copy of dy, then what the primitive needs.
std::int64_t copy_bytes(const Product& p) { return in_lines(p.rows * p.inner * 4); }
std::int64_t part_scratch_bytes(const Product& p, const onednn::Descriptor& pd) {
  return copy_bytes(p) + in_lines(onednn::scratch_bytes(pd.get()));
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  const Product product = product_of(graph, node);
  const OneThread one;
  return product.parts * part_scratch_bytes(product, describe(product));
}

Kernel make(const Graph& graph, const Node& node, const KernelContext&) {
  using onednn::Argument;
  const Product p = product_of(graph, node);
  const OneThread one;
  const onednn::Descriptor pd = describe(p);
  const auto md = [&](dnnl_query_t what) { return onednn::query(pd.get(), what); };
  std::vector<Kernel> parts;
  for (std::int64_t t = 0; t < p.parts; ++t)
    parts.push_back(onednn::make_kernel(
        pd.get(), {{DNNL_ARG_SRC, Argument::input, 0, md(dnnl_query_src_md)},
                   {DNNL_ARG_WEIGHTS, Argument::input, 1, md(dnnl_query_weights_md)},
                   {DNNL_ARG_DST, Argument::output, 0, md(dnnl_query_dst_md)}}));
  return [p, parts = std::move(parts),
          scratch_bytes = part_scratch_bytes(p, pd)](const KernelArguments& arguments) {
#pragma omp parallel for num_threads(static_cast <int>(p.parts)) schedule(static, 1)
    for (std::int64_t t = 0; t < p.parts; ++t) {
      std::byte* own = static_cast<std::byte*>(arguments.scratch) + t * scratch_bytes;
      const float* dy = static_cast<const float*>(arguments.in[0]) + t * p.rows;
      for (std::int64_t k = 0; k < p.inner; ++k)
        std::memcpy(reinterpret_cast<float*>(own) + k * p.rows, dy + k * p.parts * p.rows,
                    static_cast<std::size_t>(p.rows) * sizeof(float));
      void* in[] = {own, arguments.in[1]};
      void* out[] = {static_cast<float*>(arguments.out[0]) + t * p.rows * p.columns};
      parts[static_cast<std::size_t>(t)](
          {.in = in, .out = out, .scratch = own + copy_bytes(p), .step = arguments.step});
    }
  };
}

}  // namespace

Implementation matmul_by_rows() {
  return {.name = "onednn-rows", .supports = supports, .make = make, .scratch_bytes = scratch};
}

}  // namespace tutti::cpu
