// SPDX-License-Identifier: Apache-2.0
// Where kernels.precision is int8 (B03), products with weights multiply 8-bit integers: a visible
// quantise, matmul_i8 and dequantise stand for each. Weights are quantised by nodes at the front
// into Base::constants, which need to run only once.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void quantise(Graph& graph, const Backend& backend);

// Nodes at the front of a graph that make constants.
int constant_nodes(const Graph& graph);
// Bytes of Base::constants that the graph uses.
std::int64_t constant_bytes(const Graph& graph);

}  // namespace tutti
