// SPDX-License-Identifier: Apache-2.0
// What a network costs in the work–depth model (K01, K12), layer by layer.
#pragma once

#include "tutti/graph/cost.h"
#include "tutti/nn/net.h"

#include <string>

namespace tutti {

// The cost of the forward computation of one batch, from the input to the loss.
Cost forward_cost(const Net& net);

// A number with separators: 1863690 → "1,863,690".
std::string grouped(double number);

// A table of layers (output shape, parameters, multiply–adds, work, depth) with totals and W/D.
std::string describe(const Net& net);

}  // namespace tutti
