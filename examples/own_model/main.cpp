// SPDX-License-Identifier: Apache-2.0
// A network of one's own, composed of the library's operators.
#include "tutti/graph/graph.h"
#include "tutti/ops/relu.h"

#include <fmt/format.h>

int main() {
  tutti::Graph graph;
  const tutti::ValueId x = graph.add_value("x", {tutti::DType::f32, {128, 64}});
  graph.add(tutti::ops::relu, {x});
  fmt::print("{}", print(graph));
}
