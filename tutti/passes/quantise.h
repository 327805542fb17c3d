// SPDX-License-Identifier: Apache-2.0
// Where kernels.precision is int8 (B03), the products x wᵀ of linear layers multiply 8-bit
// integers: visible nodes quantise, matmul_i8 and dequantise replace each. Weights are quantised
// into Base::constants by nodes at the front of the graph, which need to run only once.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void quantise(Graph& graph, const Backend& backend);

// The number of nodes at the front of a graph that make constants.
int constant_nodes(const Graph& graph);
// Bytes of Base::constants that the graph uses.
std::int64_t constant_bytes(const Graph& graph);

}  // namespace tutti
