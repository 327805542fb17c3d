// SPDX-License-Identifier: Apache-2.0
// Partition as a graph rewrite. Data parallelism (C01): the sample index n is split over a mesh
// axis; the operators' sharding rules say what becomes of every value. What a rank computes of a
// parameter's gradient is then a summand: its range is marked partial, and the exchange that the
// recipe chooses sums it over ranks.
#pragma once

#include "tutti/core/mesh.h"
#include "tutti/graph/graph.h"

namespace tutti {

// The mesh axis along which ranks split the samples of a batch, and a mesh with that axis only.
inline constexpr const char* data_axis = "data";
inline Mesh data_mesh(int ranks) { return Mesh({{data_axis, ranks}}); }

// Turns the graph of a batch of `samples` into the graph of a rank that holds `local_samples` of
// them along data_axis.
void partition_samples(Graph& graph, std::int64_t samples, std::int64_t local_samples);

}  // namespace tutti
