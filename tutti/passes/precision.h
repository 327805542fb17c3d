// SPDX-License-Identifier: Apache-2.0
// Sets the precision of every product that leaves it open, and marks the activations that are
// stored in 16 bits where the back end stores them so. The layout pass then converts operands or
// activations to 16 bits and back by visible reorders; the flat vectors stay float.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void choose_precision(Graph& graph, const Backend& backend);

}  // namespace tutti
