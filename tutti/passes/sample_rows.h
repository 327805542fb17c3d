// SPDX-License-Identifier: Apache-2.0
// Random operators draw by the index of an element in the whole batch. A rank knows at which sample
// of the batch its share or micro-batch begins. How many rows of a tensor belong to a sample
// follows from the graph: one; several where samples are merged with another dimension (n·t); none
// where the tensor has no dimension of samples.
#pragma once

#include "tutti/graph/graph.h"

namespace tutti {

// Sets `sample_rows` of every random operator.
void count_sample_rows(Graph& graph);

}  // namespace tutti
