// SPDX-License-Identifier: Apache-2.0
// Folds bias, residual addition and activation into the product or convolution before them (B38),
// the bias gradient into the weight gradient of a convolution, and moves the gradient of a ReLU to
// the smaller side of a max-pool.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void fuse(Graph& graph, const Backend& backend);

}  // namespace tutti
