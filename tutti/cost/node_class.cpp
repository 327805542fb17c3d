// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/node_class.h"

#include "tutti/graph/op.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/matmul.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

double log_of(double size) { return std::log2(std::max(size, 1.0)); }
double log_of(std::int64_t size) { return log_of(static_cast<double>(size)); }

// Beside its sizes m, n and k a product is known by which factor is transposed.
NodeClass product_class(const Graph& graph, const Node& node, std::string name) {
  const bool ta = node.settings.flag("transpose_a"), tb = node.settings.flag("transpose_b");
  const Shape &a = graph.shape(node.inputs[0]), &y = graph.shape(node.outputs[0]);
  const std::size_t row = a.size() - 2, column = a.size() - 1;
  const std::int64_t m = y[row], n = y[column], k = a[ta ? row : column];
  const std::int64_t batch = elements(y) / std::max<std::int64_t>(m * n, 1);
  name += std::string("/") + (ta ? "t" : "n") + (tb ? "t" : "n") + (batch > 1 ? "/batched" : "");
  return {name,
          {log_of(m), log_of(n), log_of(k)},
          static_cast<double>(elements(y)) * static_cast<double>(k)};
}

// Pixels of the whole tiles of 4×4 that cover the image, over its pixels: many kernels compute in
// such tiles.
double tile_excess(const Shape& pixels) {
  double excess = 1;
  for (const std::int64_t extent : pixels) {
    const std::int64_t tiles = (extent + 3) / 4;
    excess *= static_cast<double>(tiles * 4) / static_cast<double>(extent);
  }
  return excess;
}

// Kernel, stride and groups decide the code that runs, channels how well it runs; positions and
// samples matter less.
NodeClass convolution_class(const Graph& graph, const Node& node, std::string name) {
  constexpr double code = 3, extent = 0.75, samples = 0.5;
  const ops::Geometry g = ops::geometry_of(graph, node);
  const std::int64_t groups = g.groups;
  return {
      std::move(name),
      {log_of(g.c / groups), log_of(g.o / groups), code * log_of(groups) / 4,
       code * log_of(elements(g.kernel)) / 2, code * log_of(g.windows[0].stride),
       extent * log_of(elements(g.pixels)), log_of(tile_excess(g.pixels)), samples * log_of(g.n)},
      g.multiply_adds()};
}

bool is_convolution(const Node& node) {
  return node.op == &ops::convolution || node.op == &ops::convolution_grad_input ||
         node.op == &ops::convolution_grad_weight;
}

// Work per byte tells the windows of pools apart; the number of positions tells the shapes of sums
// and reorders apart.
NodeClass streaming_class(const Graph& graph, const Node& node, std::string name) {
  const double bytes = touched_bytes(graph, node);
  const Cost cost = cost_of_node(graph, node);
  const double intensity = cost.work / std::max(cost.bytes_read + cost.bytes_written, 1.0);
  const Shape& x = graph.shape(node.inputs.empty() || node.inputs[0] == no_value ? node.outputs[0]
                                                                                 : node.inputs[0]);
  const double positions = x.size() > 2 ? log_of(elements(x, 2, x.size())) : 0;
  return {std::move(name), {log_of(bytes), std::log2(intensity + 0.01), 0.25 * positions}, bytes};
}

}  // namespace

double touched_bytes(const Graph& graph, const Node& node) {
  double bytes = 0;
  for (ValueId id : node.inputs)
    if (id != no_value) bytes += static_cast<double>(graph.value(id).bytes());
  for (ValueId id : node.outputs) bytes += static_cast<double>(graph.value(id).bytes());
  return bytes;
}

NodeClass class_of(const Graph& graph, const Node& node, const std::string& implementation) {
  std::string name = node.op->name + "/" + implementation;
  if (node.op == &ops::matmul) return product_class(graph, node, std::move(name));
  if (is_convolution(node)) return convolution_class(graph, node, std::move(name));
  return streaming_class(graph, node, std::move(name));
}

}  // namespace tutti
