// SPDX-License-Identifier: Apache-2.0
// Tells every product that leaves it open in which precision to multiply, or marks the activations
// that are stored in 16 bits. The layout pass then brings operands into 16 bits, or activations
// there and back, by visible reorders; the flat vectors stay float.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void choose_precision(Graph& graph, const Backend& backend);

}  // namespace tutti
