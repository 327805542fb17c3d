// SPDX-License-Identifier: Apache-2.0
// Rows of a table. In the gradient each thread owns some rows of the table and adds to them in the
// order of the index, so the sums don't depend on the number of threads.
#include "tutti/ops/embedding.h"

#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/touched_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace tutti::cpu {
namespace {

struct Table {
  std::int64_t rows, width, indices;
};

// The index, checked before threads share the work: no exception may leave a thread.
const std::int32_t* checked_index(const char* name, const Table& table, const void* memory) {
  const auto* index = static_cast<const std::int32_t*>(memory);
  for (std::int64_t i = 0; i < table.indices; ++i) ops::row_at(name, index, i, table.rows);
  return index;
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]).dtype == DType::f32;
}

Kernel make_forward(const Graph& graph, const Node& node, const KernelContext& context) {
  const Shape& shape = graph.shape(node.inputs[0]);
  const Table table{shape[0], shape[1], elements(graph.shape(node.inputs[1]))};
  return [table, threads = context.threads](const KernelArguments& arguments) {
    const std::int32_t* index = checked_index("embedding", table, arguments.in[1]);
    const auto* from = static_cast<const float*>(arguments.in[0]);
    auto* to = static_cast<float*>(arguments.out[0]);
    parallel(table.indices, 1 + 8192 / table.width, threads,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i)
                 std::memcpy(to + i * table.width, from + index[i] * table.width,
                             static_cast<std::size_t>(table.width) * sizeof(float));
             });
  };
}

// Clears and adds up only the rows that the index names; nobody reads the others.
Kernel make_touched(const Graph& graph, const Node& node, const KernelContext& context) {
  const Shape& shape = graph.shape(node.outputs[0]);
  const Table table{shape[0], shape[1], elements(graph.shape(node.inputs[1]))};
  auto rows = std::make_shared<TouchedRows>(table.indices);
  return [table, rows, threads = context.threads](const KernelArguments& arguments) {
    rows->find(checked_index("embedding_grad", table, arguments.in[1]));
    const auto* dy = static_cast<const float*>(arguments.in[0]);
    auto* to = static_cast<float*>(arguments.out[0]);
    parallel(rows->count(), 1 + 8192 / table.width, threads,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t k = begin; k < end; ++k) {
                 float* row = to + rows->row(k) * table.width;
                 std::fill_n(row, table.width, 0.0f);
                 rows->for_positions(k, [&](std::int64_t i) {
                   loops().add(row, dy + i * table.width, row, table.width);
                 });
               }
             });
  };
}

Kernel make_backward(const Graph& graph, const Node& node, const KernelContext& context) {
  if (node.settings.flag("touched")) return make_touched(graph, node, context);
  const Shape& shape = graph.shape(node.outputs[0]);
  const Table table{shape[0], shape[1], elements(graph.shape(node.inputs[1]))};
  return [table, threads = context.threads](const KernelArguments& arguments) {
    const std::int32_t* index = checked_index("embedding_grad", table, arguments.in[1]);
    const auto* dy = static_cast<const float*>(arguments.in[0]);
    auto* to = static_cast<float*>(arguments.out[0]);
    parallel(table.rows, 1 + 8192 / table.width, threads,
             [&](std::int64_t begin, std::int64_t end) {
               std::fill(to + begin * table.width, to + end * table.width, 0.0f);
               for (std::int64_t i = 0; i < table.indices; ++i) {
                 if (index[i] < begin || index[i] >= end) continue;
                 float* row = to + index[i] * table.width;
                 loops().add(row, dy + i * table.width, row, table.width);
               }
             });
  };
}

}  // namespace

Implementation embedding() { return {.name = "copy", .supports = supports, .make = make_forward}; }
Implementation embedding_grad() {
  return {.name = "simd", .supports = supports, .make = make_backward};
}

}  // namespace tutti::cpu
