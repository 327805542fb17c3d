// SPDX-License-Identifier: Apache-2.0
// Folds bias, residual addition and activation into the product or convolution before them (B38),
// and the bias gradient into the weight gradient of a convolution. Joins the two branches of the
// gradient of batch normalisation, with the gradient of a ReLU behind it. Moves the gradient of a
// ReLU to the smaller side of a max-pool.
#pragma once

#include "tutti/graph/backend.h"

namespace tutti {

void fuse(Graph& graph, const Backend& backend);

}  // namespace tutti
