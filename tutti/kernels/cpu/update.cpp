// SPDX-License-Identifier: Apache-2.0
// The update of flat vectors, in chunks of UpdateCall::block elements: Σ g², then the rule while
// the chunk is in the cache. A chunk whose gradient is not finite is left alone, and the returned Σ
// g² shows it.
#include "tutti/ops/update.h"

#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/kernels/touched_rows.h"
#include "tutti/kernels/update_call.h"
#include "tutti/ops/square_sum.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <string_view>

namespace tutti::cpu {
namespace {

const NamedUpdate* loops_of(std::string_view rule) {
  for (int k = 0; k < loops().update_count; ++k)
    if (loops().updates[k].rule == rule) return &loops().updates[k];
  return nullptr;
}

bool supports_update(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype == DType::f32 &&
         loops_of(node.settings.text("rule")) != nullptr;
}

// Updates only the rows that an input names, each row once.
Kernel make_update_rows(const Graph& graph, const Node& node, const KernelContext& context) {
  auto call = std::make_shared<UpdateCall>(graph, node);
  auto rows = std::make_shared<TouchedRows>(call->named_rows());
  auto sums = std::make_shared<std::vector<double>>(static_cast<std::size_t>(call->named_rows()));
  return [call, rows, sums, loop = loops_of(node.settings.text("rule"))->loop,
          threads = context.threads](const KernelArguments& arguments) {
    const UpdateArgs args = call->prepare(arguments);
    const bool may_update = call->may_update();
    const std::int64_t width = call->row_width();
    auto* w = static_cast<float*>(args.w);
    const auto* g = static_cast<const float*>(args.g);
    rows->find(call->rows(arguments));
    parallel(rows->count(), 1 + 65536 / width, threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t begin = rows->row(k) * width;
        const double sum = loops().square_sum(g + begin, width);
        (*sums)[static_cast<std::size_t>(k)] = sum;
        if (may_update && std::isfinite(sum))
          loop(w, g, args.states, begin, begin + width, args.hyper);
      }
    });
    *call->square_sum(arguments) =
        std::accumulate(sums->begin(), sums->begin() + rows->count(), 0.0);
  };
}

Kernel make_update(const Graph& graph, const Node& node, const KernelContext& context) {
  if (ops::has_rows(node.settings)) return make_update_rows(graph, node, context);
  auto call = std::make_shared<UpdateCall>(graph, node);
  return [call, loop = loops_of(node.settings.text("rule"))->loop,
          threads = context.threads](const KernelArguments& arguments) {
    const UpdateArgs args = call->prepare(arguments);
    const bool may_update = call->may_update();
    auto* w = static_cast<float*>(args.w);
    const auto* g = static_cast<const float*>(args.g);
    std::vector<double>& sums = call->square_sums();
    parallel(call->blocks(), 16, threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t begin = b * UpdateCall::block;
        const std::int64_t end = std::min(args.count, begin + UpdateCall::block);
        const double sum = loops().square_sum(g + begin, end - begin);
        sums[static_cast<std::size_t>(b)] = sum;
        if (may_update && std::isfinite(sum)) loop(w, g, args.states, begin, end, args.hyper);
      }
    });
    *call->square_sum(arguments) = std::accumulate(sums.begin(), sums.end(), 0.0);
  };
}

Kernel make_measure(const Graph& graph, const Node& node, const KernelContext& context) {
  auto call = std::make_shared<UpdateCall>(graph, node);
  auto parts = std::make_shared<std::vector<double>>(2 * call->square_sums().size());
  return [call, parts, measure = loops_of(node.settings.text("rule"))->measure,
          threads = context.threads](const KernelArguments& arguments) {
    const UpdateArgs args = call->prepare(arguments);
    std::fill(parts->begin(), parts->end(), 0.0);
    parallel(call->blocks(), 16, threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b)
        measure(static_cast<const float*>(args.w), static_cast<const float*>(args.g), args.states,
                b * UpdateCall::block, std::min(args.count, (b + 1) * UpdateCall::block),
                args.hyper, parts->data() + 2 * b);
    });
    auto* squares = static_cast<double*>(arguments.out[0]);
    squares[0] = squares[1] = 0;
    for (std::size_t k = 0; k < parts->size(); ++k) squares[k % 2] += (*parts)[k];
  };
}

bool supports_square_sum(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype == DType::f32;
}

Kernel make_square_sum(const Graph& graph, const Node& node, const KernelContext&) {
  std::vector<ops::SquareSumPart> parts;
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    parts.push_back(ops::square_sum_part(node.settings, graph.shape(node.inputs[k]), k));
  return [parts](const KernelArguments& arguments) {
    double sum = 0;
    for (std::size_t k = 0; k < parts.size(); ++k)
      sum += loops().square_sum(static_cast<const float*>(arguments.in[k]) + parts[k].first,
                                parts[k].count);
    *static_cast<double*>(arguments.out[0]) = sum;
  };
}

}  // namespace

Implementation update() {
  return {.name = "simd", .supports = supports_update, .make = make_update, .in_place = true};
}

Implementation measure() {
  return {.name = "simd", .supports = supports_update, .make = make_measure};
}

Implementation square_sum() {
  return {.name = "simd", .supports = supports_square_sum, .make = make_square_sum};
}

}  // namespace tutti::cpu
