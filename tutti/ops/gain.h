// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op gain;       // gain(x, g; axis) -> y = x · g along the axis
extern const Op gain_grad;  // gain_grad(a, b; axis) -> dg = Σ a · b over all other axes

}  // namespace tutti::ops
