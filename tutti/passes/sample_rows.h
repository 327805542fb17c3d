// SPDX-License-Identifier: Apache-2.0
// Random operators draw by the index of an element in the whole batch. A rank, and a pass of a
// batch, know at which sample theirs begin; how many rows of a tensor belong to a sample follows
// from the graph: one, several where samples are merged with others (n·t), none where the tensor is
// whole.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Tells every random operator (its setting 'sample_rows').
void count_sample_rows(Graph& graph);

}  // namespace tutti
